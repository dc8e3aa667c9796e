/** Files that hold secrets are not read unless they are named one by one. */

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
  // What was typed, keys among it.
  /^\.\w+_history$/,
  /^service[-_]account.*\.json$/,
]
/** They show how the secret ones look. */
const EXAMPLE = /^\.env\.(?:example|sample|template|dist|defaults?)$/
const PRIVATE_KEY = /^\s*-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----/

/** By its name; case does not matter. */
export function isSecretName(path: string): boolean {
  const name = basename(path).toLowerCase()
  return NAMES.has(name) || (!EXAMPLE.test(name) && PATTERNS.some((pattern) => pattern.test(name)))
}

/** Whether a name of which only the begin and the end are known may be such a one. */
export function mayBeSecretName(begin: string, end: string): boolean {
  const names = [...NAMES, 'credentials.json', 'id_rsa', 'server.key', 'private.key']
  return names.some((name) => name.startsWith(begin.toLowerCase()) && name.endsWith(end.toLowerCase()))
}

/** By how it begins: a private key under a harmless name. */
export function holdsPrivateKey(text: string): boolean {
  return PRIVATE_KEY.test(text.slice(0, 200))
}
