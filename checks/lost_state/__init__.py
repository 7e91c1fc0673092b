"""Commands for a stack whose state is wholly lost: ids for `pulumi import`, and the state after it."""
