// The Python SDK of a package's schema, as `pulumi package add` generates it; Pulumi's language host, which holds the generator, is
// not in the registry.
//
//	pulumi-python-sdk schema.json FOLDER
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	log.SetFlags(0)
	if err := generate(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func generate(document, folder string) error {
	content, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	var spec schema.PackageSpec
	if err := json.Unmarshal(content, &spec); err != nil {
		return err
	}
	pkg, err := schema.ImportSpec(spec, nil, schema.NewNullLoader(), schema.ValidationOptions{})
	if err != nil {
		return err
	}
	files, err := python.GeneratePackage("pulumi", pkg, nil, nil)
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
