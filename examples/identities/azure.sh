# The readers' and deployers' identities on Azure, with a credential for each environment (docs.github.com: oidc-in-azure), and
# their roles on state, key and one stack's group. Set REPO and SUBJECT first (docs/delivery.md, "Identities, by OIDC"). Not run
# against a real cloud.
trust() {      # IDENTITY ENVIRONMENT
  az identity federated-credential create -g pulumi-state --identity-name "$1" --name "$2" \
    --issuer https://token.actions.githubusercontent.com --subject "$SUBJECT:environment:$2" --audiences api://AzureADTokenExchange
}
for stacks in "" -prod; do
  az identity create -g pulumi-state -n kubeflow-spot-reader$stacks
  for e in cloud-preview$stacks drift$stacks; do trust kubeflow-spot-reader$stacks $e; done
done
for stack in dev staging prod; do
  az identity create -g pulumi-state -n kubeflow-spot-deployer-$stack
  trust kubeflow-spot-deployer-$stack $stack
done

# For each stack: its ids of group (of its resources), state container and key; then both identities of it (prod: reader-prod).
STACK=dev READER=kubeflow-spot-reader GROUP='<id of the group>' STATE='<id of the container>' KEY='<id of the key>'
give() {       # IDENTITY ROLE SCOPE
  az role assignment create --assignee-object-id "$(az identity show -g pulumi-state -n "$1" --query principalId -o tsv)" \
    --assignee-principal-type ServicePrincipal --role "$2" --scope "$3"
}
give $READER Reader "$GROUP"
give $READER "Azure Kubernetes Service Cluster User Role" "$GROUP"
give $READER "Storage Blob Data Reader" "$STATE"
give $READER "Key Vault Crypto User" "$KEY"
give kubeflow-spot-deployer-$STACK Contributor "$GROUP"
give kubeflow-spot-deployer-$STACK "Storage Blob Data Contributor" "$STATE"
give kubeflow-spot-deployer-$STACK "Key Vault Crypto User" "$KEY"
# The deployer's right to give roles, and what else your stack needs: docs/azure.md, "Rights".

az identity list -g pulumi-state --query '[].{name: name, "azure-client-id": clientId, "azure-tenant-id": tenantId, principal: principalId}'
