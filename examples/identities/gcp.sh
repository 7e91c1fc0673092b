# One pool and provider for this repository's branch main, and the readers' service accounts
# (google-github-actions/auth: README, SECURITY_CONSIDERATIONS).
# Set REPO and SUBJECT first (docs/delivery.md, "Identities, by OIDC"), and PROJECT. Not run against a real cloud.
ID=$(gh api repos/$REPO -q .id) NUMBER=$(gcloud projects describe $PROJECT --format='value(projectNumber)')
POOL=projects/$NUMBER/locations/global/workloadIdentityPools/github
gcloud iam workload-identity-pools create github --project $PROJECT --location global
gcloud iam workload-identity-pools providers create-oidc kubeflow-spot --project $PROJECT --location global \
  --workload-identity-pool github --issuer-uri https://token.actions.githubusercontent.com \
  --attribute-mapping google.subject=assertion.sub --attribute-condition "assertion.repository_id == '$ID' && assertion.ref == 'refs/heads/main'"
for stacks in "" -prod; do
  gcloud iam service-accounts create kubeflow-spot-reader$stacks --project $PROJECT
  for e in cloud-preview$stacks drift$stacks; do
    gcloud iam service-accounts add-iam-policy-binding kubeflow-spot-reader$stacks@$PROJECT.iam.gserviceaccount.com --project $PROJECT \
      --role roles/iam.workloadIdentityUser --member "principal://iam.googleapis.com/$POOL/subject/$SUBJECT:environment:$e"
  done
done      # GCP_WORKLOAD_IDENTITY_PROVIDER: $POOL/providers/kubeflow-spot
