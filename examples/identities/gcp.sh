# One pool and provider for this repository's branch main, the readers' and deployers' service accounts, and their roles on state,
# key and project (google-github-actions/auth: README, SECURITY_CONSIDERATIONS).
# Set REPO and SUBJECT first (docs/delivery.md, "Identities, by OIDC"), and PROJECT. Not run against a real cloud.
ID=$(gh api repos/$REPO -q .id) NUMBER=$(gcloud projects describe $PROJECT --format='value(projectNumber)')
POOL=projects/$NUMBER/locations/global/workloadIdentityPools/github
gcloud iam workload-identity-pools create github --project $PROJECT --location global
gcloud iam workload-identity-pools providers create-oidc kubeflow-spot --project $PROJECT --location global \
  --workload-identity-pool github --issuer-uri https://token.actions.githubusercontent.com \
  --attribute-mapping google.subject=assertion.sub --attribute-condition "assertion.repository_id == '$ID' && assertion.ref == 'refs/heads/main'"
trust() {      # ACCOUNT ENVIRONMENT
  gcloud iam service-accounts add-iam-policy-binding "$1@$PROJECT.iam.gserviceaccount.com" --project $PROJECT \
    --role roles/iam.workloadIdentityUser --member "principal://iam.googleapis.com/$POOL/subject/$SUBJECT:environment:$2"
}
for stacks in "" -prod; do
  gcloud iam service-accounts create kubeflow-spot-reader$stacks --project $PROJECT
  for e in cloud-preview$stacks drift$stacks; do trust kubeflow-spot-reader$stacks $e; done
done
for stack in dev staging prod; do
  gcloud iam service-accounts create kubeflow-spot-deployer-$stack --project $PROJECT
  trust kubeflow-spot-deployer-$stack $stack
done      # gcp-provider: $POOL/providers/kubeflow-spot

# For each stack, its state's bucket and its key; then both accounts of it (prod: reader-prod).
STACK=staging READER=kubeflow-spot-reader BUCKET='<bucket>' KEY='projects/<project>/locations/<place>/keyRings/<ring>/cryptoKeys/<key>'
member() { echo "serviceAccount:$1@$PROJECT.iam.gserviceaccount.com"; }
deployer=kubeflow-spot-deployer-$STACK
for role in container.viewer compute.viewer iam.securityReviewer iam.serviceAccountViewer; do
  gcloud projects add-iam-policy-binding $PROJECT --member "$(member $READER)" --role roles/$role --condition None
done
for role in container.admin compute.networkAdmin iam.serviceAccountAdmin iam.serviceAccountUser; do
  gcloud projects add-iam-policy-binding $PROJECT --member "$(member $deployer)" --role roles/$role --condition None
done
gcloud storage buckets add-iam-policy-binding gs://$BUCKET --member "$(member $READER)" --role roles/storage.objectViewer
gcloud storage buckets add-iam-policy-binding gs://$BUCKET --member "$(member $deployer)" --role roles/storage.objectAdmin
gcloud kms keys add-iam-policy-binding $KEY --member "$(member $READER)" --role roles/cloudkms.cryptoKeyDecrypter
gcloud kms keys add-iam-policy-binding $KEY --member "$(member $deployer)" --role roles/cloudkms.cryptoKeyEncrypterDecrypter
# The deployer's right to give roles has a condition; that, and what else your stack needs: docs/gke.md, "Rights".
