/** Recognises files that hold secrets, which are read only when they are named individually. */

import { basename } from 'node:path'

const NAMES = new Set(
  (
    'rclone.conf .wgetrc .npmrc .yarnrc .yarnrc.yml .netrc _netrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .dockercfg .dockerconfigjson .vault-token .boto .s3cfg ' +
    'credentials client_secret.json secrets secret.json secrets.json secrets.yml secrets.yaml ' +
    'secrets.toml secrets.env service-account.json serviceaccount.json kubeconfig shadow master.key wallet.dat terraform.tfstate terraform.tfstate.backup cria.keys.json'
  ).split(' '),
)
const PATTERNS = [
  /^\.env(?:\..*|rc)?$/,
  /\.env$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:pem|p12|pfx|p8|pkcs12|jks|keystore|kdbx|ppk|tfvars|ovpn|agekey)$/,
  /(?:^|[._-])(?:private|secret|server|client|tls|ssl|rsa)?[._-]?key$/,
  /^client_secret.*\.json$/,
  /(?:^|[._-])credentials\.(?:json|ya?ml|xml|toml|ini|db|properties|tfrc\.json)$/,
  // Shell histories, which may hold typed keys.
  /^\.\w+_history$/,
  /^service[-_]account.*\.json$/,
]
/** Matches templates, which hold no secrets. */
const EXAMPLE = /^\.env\.(?:example|sample|template|dist|defaults?)$/
const PRIVATE_KEY = /^\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/

/** Recognises a secret file by its name, regardless of case. */
export function isSecretName(path: string): boolean {
  const name = basename(path).toLowerCase()
  return NAMES.has(name) || (!EXAMPLE.test(name) && PATTERNS.some((pattern) => pattern.test(name)))
}

/** Returns whether a name with this beginning and end may be that of a secret file. */
export function mayBeSecretName(begin: string, end: string): boolean {
  const names = [...NAMES, 'credentials.json', 'id_rsa', 'server.key', 'private.key']
  return names.some((name) => name.startsWith(begin.toLowerCase()) && name.endsWith(end.toLowerCase()))
}

/** Recognises a private key by the beginning of the content. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text.slice(0, 200))
}
