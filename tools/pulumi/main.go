// The SDK of a package's schema, as `pulumi package add` generates it; Pulumi's language hosts, which hold the generators, are not in
// the registry.
//
//	pulumi-sdk python|nodejs|go schema.json FOLDER
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	log.SetFlags(0)
	if err := generate(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func generate(language, document, folder string) error {
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
	files, err := sdk(language, pkg)
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

func sdk(language string, pkg *schema.Package) (map[string][]byte, error) {
	switch language {
	case "python":
		return python.GeneratePackage("pulumi", pkg, nil, nil)
	case "nodejs":
		return nodejs.GeneratePackage("pulumi", pkg, nil, nil, true, nil)
	case "go":
		return gen.GeneratePackage("pulumi", pkg, nil)
	}
	return nil, fmt.Errorf("no generator for %s", language)
}
