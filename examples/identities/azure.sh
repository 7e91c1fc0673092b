# The readers' identities on Azure, with a credential for each environment (docs.github.com: oidc-in-azure).
# Set REPO and SUBJECT first (docs/delivery.md, "Identities, by OIDC"). Not run against a real cloud.
for stacks in "" -prod; do
  az identity create -g pulumi-state -n kubeflow-spot-reader$stacks
  for e in cloud-preview$stacks drift$stacks; do
    az identity federated-credential create -g pulumi-state --identity-name kubeflow-spot-reader$stacks --name $e \
      --issuer https://token.actions.githubusercontent.com --subject "$SUBJECT:environment:$e" --audiences api://AzureADTokenExchange
  done
  az identity show -g pulumi-state -n kubeflow-spot-reader$stacks --query '{AZURE_CLIENT_ID: clientId, principal: principalId}'
done
