"""Modules of the SDKs that the program uses, loaded once for all commands of the tests (`sandbox.tests.commands`)."""

import pulumi_kubernetes as k8s
from pulumi_azure_native import (
    authorization,
    containerservice,
    managedidentity,
    monitor,
    network,
    operationalinsights,
    resources,
    storage,
)
from pulumi_gcp import artifactregistry, compute, container, kms, organizations, projects, serviceaccount
from pulumi_gcp import storage as buckets

from sandbox.tests import left_out

# A module of an SDK loads when a name in it is used.
LOADED = (
    *(authorization.RoleAssignment, containerservice.ManagedCluster, managedidentity.UserAssignedIdentity),
    *(monitor.DataCollectionRule, network.VirtualNetwork, operationalinsights.Workspace),
    *(resources.ResourceGroup, storage.StorageAccount),
    *(artifactregistry.RepositoryIamMember, compute.Network, container.Cluster, kms.CryptoKeyIAMMember),
    *(organizations.get_project, projects.IAMMember, serviceaccount.Account, buckets.Bucket),
    *(k8s.core.v1.ConfigMap, k8s.apps.v1.DaemonSet, k8s.rbac.v1.Role, k8s.admissionregistration.v1),
    *(k8s.storage.v1.StorageClass, k8s.apiextensions.CustomResource, k8s.Provider),
)
left_out.leave_out_for_good()
