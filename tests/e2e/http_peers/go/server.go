// The application on net/http, in a process of its own. Arguments: a certificate, its key, and who signs clients' certificates.
package main

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const period = 65521

// Where this version of Go knows h2 without TLS.
var speakH2c func(server *http.Server)

var dripping int64

func pattern(length int) []byte {
	bytes := make([]byte, length)
	for i := range bytes {
		at := uint32(i % period)
		bytes[i] = byte(at * at >> 5)
	}
	return bytes
}

func number(r *http.Request, name string) int {
	value, _ := strconv.Atoi(r.URL.Query().Get(name))
	return value
}

func hello(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"hello-1"`)
	if r.Header.Get("If-None-Match") == `"hello-1"` {
		w.WriteHeader(304)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "hello")
}

func echo(w http.ResponseWriter, r *http.Request) {
	length := "none"
	if r.ContentLength > 0 || r.Header.Get("Content-Length") != "" {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.Header().Set("X-Method", r.Method)
	w.Header().Set("X-Length", length)
	if full, ok := w.(interface{ EnableFullDuplex() error }); ok && r.ProtoMajor == 1 {
		full.EnableFullDuplex()
	}
	w.WriteHeader(200)
	if r.Method == "HEAD" {
		return
	}
	if r.ContentLength != 0 {
		w.(http.Flusher).Flush()
	}
	buffer := make([]byte, 65536)
	for {
		n, err := r.Body.Read(buffer)
		if n > 0 {
			w.Write(buffer[:n])
			w.(http.Flusher).Flush()
		}
		if err != nil {
			return
		}
	}
}

func mirror(w http.ResponseWriter, r *http.Request) {
	length := "none"
	if r.ContentLength >= 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	bytes, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("X-Length", length)
	w.Write(bytes)
}

func digest(w http.ResponseWriter, r *http.Request) {
	hash := sha256.New()
	n, err := io.Copy(hash, r.Body)
	if err != nil {
		return
	}
	json.NewEncoder(w).Encode(map[string]interface{}{"method": r.Method, "bytes": n, "sha256": fmt.Sprintf("%x", hash.Sum(nil))})
}

func bytesOf(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", r.URL.Query().Get("n"))
	w.Write(pattern(number(r, "n")))
}

func stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	bytes := pattern(number(r, "n"))
	w.Write(bytes[:len(bytes)/2])
	w.(http.Flusher).Flush()
	w.Write(bytes[len(bytes)/2:])
}

func drip(w http.ResponseWriter, r *http.Request) {
	atomic.AddInt64(&dripping, 1)
	defer atomic.AddInt64(&dripping, -1)
	bytes := pattern(10000)
	for {
		if _, err := w.Write(bytes); err != nil || r.Context().Err() != nil {
			return
		}
		w.(http.Flusher).Flush()
		time.Sleep(2 * time.Millisecond)
	}
}

func half(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "1000")
	w.Write(pattern(500))
	w.(http.Flusher).Flush()
	time.Sleep(5 * time.Millisecond)
	panic(http.ErrAbortHandler)
}

func encoded(w http.ResponseWriter, r *http.Request) {
	var text strings.Builder
	for i := 0; i < 2000; i++ {
		fmt.Fprintf(&text, "line %d of what is sent in a coding\n", i)
	}
	coding := r.URL.Query().Get("as")
	w.Header().Set("Content-Encoding", coding)
	w.Header().Set("Content-Type", "text/plain")
	var encoder io.WriteCloser = gzip.NewWriter(w)
	if coding == "deflate" {
		encoder, _ = zlib.NewWriterLevel(w, flate.BestSpeed)
	}
	io.WriteString(encoder, text.String())
	encoder.Close()
}

func trailers(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Trailer", "X-Trailer")
	io.WriteString(w, "a body with trailers")
	w.Header().Set("X-Trailer", "last")
}

func hints(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Link", "</style.css>; rel=preload; as=style")
	w.WriteHeader(103)
	w.Header().Set("Link", "</script.js>; rel=preload; as=script")
	w.WriteHeader(103)
	w.Header().Del("Link")
	io.WriteString(w, "hinted")
}

func fields(w http.ResponseWriter, r *http.Request) {
	for i := 0; i < number(r, "n"); i++ {
		w.Header().Set("X-Field-"+strconv.Itoa(i), strings.Repeat("-", 100-len(strconv.Itoa(i)))+strconv.Itoa(i))
	}
	asked := map[string]string{"host": r.Host}
	for name, values := range r.Header {
		asked[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	json.NewEncoder(w).Encode(asked)
}

func application() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", hello)
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/mirror", mirror)
	mux.HandleFunc("/digest", digest)
	mux.HandleFunc("/bytes", bytesOf)
	mux.HandleFunc("/stream", stream)
	mux.HandleFunc("/drip", drip)
	mux.HandleFunc("/half", half)
	mux.HandleFunc("/encoded", encoded)
	mux.HandleFunc("/trailers", trailers)
	mux.HandleFunc("/hints", hints)
	mux.HandleFunc("/fields", fields)
	mux.HandleFunc("/dripping", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, atomic.LoadInt64(&dripping))
	})
	mux.HandleFunc("/wait", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(number(r, "ms")) * time.Millisecond)
		io.WriteString(w, "waited")
	})
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(number(r, "code")) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(number(r, "code"))
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(413)
		io.WriteString(w, "too much")
	})
	return mux
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Serves the application, over TLS if there is a configuration; gives its origin.
func serve(secure *tls.Config, prepare func(server *http.Server)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go serveAnew(listener.(*net.TCPListener), secure, prepare)
	if secure == nil {
		return "http://" + listener.Addr().String()
	}
	return "https://" + listener.Addr().String()
}

// A listener that stays open when a server shuts down.
type keptListener struct{ *net.TCPListener }

func (listener keptListener) Close() error {
	return listener.SetDeadline(time.Now())
}

// At each SIGHUP another server takes over, and the former shuts down as gracefully as it can.
func serveAnew(listener *net.TCPListener, secure *tls.Config, prepare func(server *http.Server)) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	for {
		server := &http.Server{Handler: application(), ErrorLog: log.New(io.Discard, "", 0)}
		if prepare != nil {
			prepare(server)
		}
		listener.SetDeadline(time.Time{})
		ended := make(chan bool)
		go func() {
			if secure == nil {
				server.Serve(keptListener{listener})
			} else {
				server.TLSConfig = secure.Clone()
				server.ServeTLS(keptListener{listener}, "", "")
			}
			close(ended)
		}()
		<-signals
		go server.Shutdown(context.Background())
		<-ended
	}
}

func main() {
	pair, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	must(err)
	authority, err := os.ReadFile(os.Args[3])
	must(err)
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(authority)
	certificates := []tls.Certificate{pair}
	origins := map[string]string{
		"h1": serve(nil, nil),
		"h2": serve(&tls.Config{Certificates: certificates}, nil),
		"h1s": serve(&tls.Config{Certificates: certificates}, func(server *http.Server) {
			server.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){}
		}),
		"verified": serve(&tls.Config{Certificates: certificates, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert}, nil),
	}
	if speakH2c != nil {
		origins["h2c"] = serve(nil, speakH2c)
	}
	json.NewEncoder(os.Stdout).Encode(origins)
	io.Copy(io.Discard, os.Stdin) // whoever started it has gone
}
