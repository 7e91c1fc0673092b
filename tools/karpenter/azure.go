package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/Azure/azure-sdk-for-go/profiles/latest/compute/mgmt/compute"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/karpenter-provider-azure/pkg/utils/clientopts"
	"github.com/Azure/skewer"
)

// emulated sends every request to the emulated Azure, whatever host it names: Resource Manager, and the list of retail prices.
type emulated struct {
	through http.RoundTripper
}

// newEmulated returns the transport to a unix socket, whose folder becomes this process's: the whole path may be too long for one.
func newEmulated(socket string) (emulated, error) {
	name := filepath.Base(socket)
	return emulated{&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", name)
		},
	}}, os.Chdir(filepath.Dir(socket))
}

func (e emulated) RoundTrip(request *http.Request) (*http.Response, error) {
	plain := request.Clone(request.Context())
	plain.Host = request.URL.Host
	// The clients send tokens by https alone; the socket is open to the owner of the sandbox alone.
	plain.URL.Scheme = "http"
	answer, err := e.through.RoundTrip(plain)
	if err == nil {
		// Where the clients ask how an operation goes on.
		answer.Request = request
	}
	return answer, err
}

// use lets all clients of Azure's SDK in this process reach the emulated Azure.
func (e emulated) use() {
	clientopts.DefaultHTTPClient().Transport = e
	// The client of prices takes it.
	http.DefaultClient.Transport = e
}

// sizes returns the client of machine sizes, whose SDK is older than that of the others.
func (e emulated) sizes(subscription string) skewer.ResourceClient {
	client := compute.NewResourceSkusClient(subscription)
	client.Sender = &http.Client{Transport: e}
	return client
}

// credential is a managed identity's: Azure's SDK asks for a token before it sends anything.
type credential struct{}

func (credential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "emulated", ExpiresOn: time.Now().Add(time.Hour)}, nil
}
