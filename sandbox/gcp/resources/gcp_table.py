"""The emulated resource types with their rules. A type that is not among them is refused."""

from sandbox.cloud.resource_type import Types
from sandbox.gcp.resources.bucket import (
    BUCKET,
    BUCKET_MEMBER,
    FOLDER,
    FOLDER_MEMBER,
    Bucket,
    BucketMember,
    Folder,
    FolderMember,
)
from sandbox.gcp.resources.gcp_cluster import Cluster
from sandbox.gcp.resources.gcp_identity import ACCOUNT, Member
from sandbox.gcp.resources.gcp_network import NETWORK, SUBNETWORK, Network, Subnetwork
from sandbox.gcp.resources.gcp_pool import NodePool
from sandbox.gcp.resources.gcp_requests import CLUSTER, POOL
from sandbox.gcp.resources.gcp_resource_type import GcpType
from sandbox.gcp.resources.router import NAT, ROUTER, Router, RouterNat

TYPES = Types[GcpType](
    (
        Network(NETWORK),
        Subnetwork(SUBNETWORK),
        Router(ROUTER),
        RouterNat(NAT),
        GcpType(ACCOUNT),
        Member("gcp:projects/iAMMember:IAMMember"),
        Member("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"),
        Member("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"),
        Member("gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"),
        Bucket(BUCKET),
        BucketMember(BUCKET_MEMBER),
        Folder(FOLDER),
        FolderMember(FOLDER_MEMBER),
        Cluster(CLUSTER),
        NodePool(POOL),
    )
)
