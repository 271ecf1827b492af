// A store that speaks S3, of versitygw's own packages, for the tests beside it:
//
//	versitygw --port ADDRESS posix FOLDER
//
// versitygw's command has more than this one needs: the clients of Azure, of other stores and of services for accounts and
// events, and a suite of tests. To compile them takes longer than the rest. `.ci/run` builds this file in a copy of
// versitygw's sources, in which the files `left_out.go` beside it replace those clients.
package main

import (
	"context"
	"log"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) != 5 || os.Args[1] != "--port" || os.Args[3] != "posix" {
		log.Fatal("usage: versitygw --port ADDRESS posix FOLDER")
	}
	// The values that versitygw's command has by default.
	options := posix.PosixOpts{CopyObjectThreshold: 5 << 30}
	options.SetNewDirPerm(0o755)
	options.SetNewFilePerm(0o644)
	store, err := posix.New(os.Args[4], meta.XattrMeta{}, options)
	if err != nil {
		log.Fatal(err)
	}
	err = embedgw.RunVersityGW(context.Background(), store, &embedgw.Config{
		RootUserAccess:      os.Getenv("ROOT_ACCESS_KEY"),
		RootUserSecret:      os.Getenv("ROOT_SECRET_KEY"),
		Ports:               []string{os.Args[2]},
		MaxConnections:      250000,
		MaxRequests:         100000,
		AdminMaxConnections: 250000,
		AdminMaxRequests:    100000,
		MultipartMaxParts:   10000,
		Quiet:               true,
	})
	log.Fatal(err)
}
