// Package tablerocktest starts Tablerock, a server of Azure Table, Queue and Blob Storage, for tests.
//
// It is one file to copy into a project. The binary tablerock is found by TABLEROCK_BINARY or in the PATH.
//
//	func TestPeople(t *testing.T) {
//		account := tablerocktest.Start(t).Account(t)
//		client, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), nil)
//		…
//	}
package tablerocktest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startTime = time.Minute
	stopTime  = 40 * time.Second
	poll      = 5 * time.Millisecond
)

// Server is a server as a process, on free ports and with data in memory.
type Server struct {
	Admin string `json:"admin"`
	Token string `json:"token"`
	Blob  string `json:"blob"`
	Queue string `json:"queue"`
	Table string `json:"table"`
}

// Account is an account of a server.
type Account struct {
	Name          string `json:"name"`
	Key           string `json:"key"`
	BlobEndpoint  string `json:"-"`
	QueueEndpoint string `json:"-"`
	TableEndpoint string `json:"-"`
}

// ConnectionString returns the connection string for every SDK.
func (account Account) ConnectionString() string {
	return fmt.Sprintf(
		"DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s;QueueEndpoint=%s;TableEndpoint=%s;",
		account.Name, account.Key, account.BlobEndpoint, account.QueueEndpoint, account.TableEndpoint)
}

// Start starts a server that stops when the test ends. Further arguments are flags of tablerock serve. It takes milliseconds; a
// package with many tests can start one in TestMain's place with a sync.Once and give each test an account.
func Start(t testing.TB, arguments ...string) *Server {
	t.Helper()
	binary := os.Getenv("TABLEROCK_BINARY")
	if binary == "" {
		binary = "tablerock"
	}
	folder := t.TempDir()
	adminFile := filepath.Join(folder, "admin.json")
	flags := []string{"serve", "--in-memory", "--blob-port=0", "--queue-port=0", "--table-port=0", "--admin-file", adminFile}
	command := exec.Command(binary, append(flags, arguments...)...)
	for _, variable := range os.Environ() {
		// Settings of the machine do not reach the tests.
		if !strings.HasPrefix(variable, "TABLEROCK_") && !strings.HasPrefix(variable, "AZURITE_") {
			command.Env = append(command.Env, variable)
		}
	}
	output, err := os.Create(filepath.Join(folder, "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatalf("cannot start %s: %v; install Tablerock, or set TABLEROCK_BINARY", binary, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		stop(command.Process, ended)
		_ = output.Close()
	})
	return wait(t, adminFile, output.Name(), ended)
}

func wait(t testing.TB, adminFile, log string, ended <-chan struct{}) *Server {
	t.Helper()
	for end := time.Now().Add(startTime); ; time.Sleep(poll) {
		if content, err := os.ReadFile(adminFile); err == nil {
			server := new(Server)
			if err := json.Unmarshal(content, server); err != nil {
				t.Fatal(err)
			}
			return server
		}
		hasEnded := false
		select {
		case <-ended:
			hasEnded = true
		default:
		}
		if hasEnded || time.Now().After(end) {
			printed, _ := os.ReadFile(log)
			t.Fatalf("tablerock is not ready; it printed:\n%s", printed)
		}
	}
}

func stop(process *os.Process, ended <-chan struct{}) {
	if runtime.GOOS == "windows" || process.Signal(syscall.SIGTERM) != nil {
		_ = process.Kill()
	}
	select {
	case <-ended:
	case <-time.After(stopTime):
		_ = process.Kill()
		<-ended
	}
}

// Account adds an account with a new name and a new key, so that a test sees no data of another.
func (server *Server) Account(t testing.TB) Account {
	t.Helper()
	return server.add(t, "")
}

// AccountNamed adds an account with this name.
func (server *Server) AccountNamed(t testing.TB, name string) Account {
	t.Helper()
	return server.add(t, "?name="+url.QueryEscape(name))
}

func (server *Server) add(t testing.TB, query string) Account {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, "http://"+server.Admin+"/accounts"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+server.Token)
	// A proxy of the machine has no way to its loopback.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusCreated {
		t.Fatalf("cannot add an account: %s %s %v", response.Status, body, err)
	}
	var account Account
	if err := json.Unmarshal(body, &account); err != nil {
		t.Fatal(err)
	}
	account.BlobEndpoint = server.Blob + "/" + account.Name
	account.QueueEndpoint = server.Queue + "/" + account.Name
	account.TableEndpoint = server.Table + "/" + account.Name
	return account
}
