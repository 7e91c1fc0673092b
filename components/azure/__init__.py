"""AKS: everything that is declared in Azure. Never imports the layer or another cloud."""
