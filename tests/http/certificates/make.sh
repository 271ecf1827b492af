#!/bin/sh
# Makes the certificates in this folder again (needs openssl 3). They are good until 2125, so that nobody has to, and their
# keys are known to everybody: never trust `ca.pem` outside of tests.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/ca.cnf" <<END
[ca]
default_ca = tests
[tests]
new_certs_dir = $work
database = $work/index
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = dn
[dn]
END
: > "$work/index"

key() { # NAME
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key" 2> /dev/null
}

# NAME ISSUER (may be NAME itself) COMMON_NAME FROM UNTIL EXTENSION...
certificate() {
  name=$1 issuer=$2 common=$3 start=$4 end=$5
  shift 5
  key "$name"
  printf '%s\n' "$@" > "$work/extensions"
  openssl req -new -config "$work/ca.cnf" -key "$name.key" -subj "/CN=$common" -out "$work/request"
  if [ "$issuer" = "$name" ]; then signer="-selfsign"; else signer="-cert $issuer.pem"; fi
  # shellcheck disable=SC2086
  openssl ca -batch -notext -config "$work/ca.cnf" $signer -keyfile "$issuer.key" -in "$work/request" \
    -startdate "$start" -enddate "$end" -extfile "$work/extensions" -out "$name.pem" 2> "$work/log" || {
    cat "$work/log" >&2
    exit 1
  }
}

from=20250101000000Z until=21250101000000Z
authority="basicConstraints=critical,CA:true keyUsage=critical,keyCertSign,cRLSign subjectKeyIdentifier=hash"
server="basicConstraints=CA:false extendedKeyUsage=serverAuth"
client="basicConstraints=CA:false extendedKeyUsage=clientAuth"
here="subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"

# shellcheck disable=SC2086
{
  certificate ca ca "Millrace test CA" $from $until $authority
  certificate intermediate ca "Millrace test intermediate CA" $from $until $authority
  certificate localhost ca localhost $from $until $server $here
  certificate two_names ca one.test $from $until $server "subjectAltName=DNS:one.test,DNS:two.test,DNS:*.many.test"
  certificate expired ca localhost 20200101000000Z 20210101000000Z $server $here
  certificate not_yet_valid ca localhost 21200101000000Z $until $server $here
  certificate self_signed self_signed localhost $from $until $server $here
  certificate incomplete intermediate localhost $from $until $server $here
  certificate client ca "A client" $from $until $client
  certificate stranger stranger "A stranger" $from $until $client
}
openssl pkey -in client.key -aes-256-cbc -passout pass:open -out client_locked.key
openssl pkcs12 -export -in client.pem -inkey client.key -passout pass:open -out client.p12
rm ca.key intermediate.key
