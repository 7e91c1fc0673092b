"""Types of resources and functions of Google Cloud that this program uses, by the names of pulumi-gcp."""

from __future__ import annotations

CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
ACCOUNT = "gcp:serviceaccount/account:Account"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
SUBNETWORK_MEMBER = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"
REPOSITORY_MEMBER = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"

GET_PROJECT = "gcp:organizations/getProject:getProject"
GET_CLUSTER = "gcp:container/getCluster:getCluster"
GET_SUBNETWORK = "gcp:compute/getSubnetwork:getSubnetwork"
