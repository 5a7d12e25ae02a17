/** The types of a kubeconfig as client-go declares them, and what its decoder says of values of another type. */
import { jsonTypeName } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'

const NAMED_EXTENSIONS = '[]v1.NamedExtension'

const STRUCTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Config: {
    preferences: 'v1.Preferences',
    clusters: '[]v1.NamedCluster',
    users: '[]v1.NamedAuthInfo',
    contexts: '[]v1.NamedContext',
    'current-context': 'string',
    extensions: NAMED_EXTENSIONS,
  },
  Preferences: { colors: 'bool', extensions: NAMED_EXTENSIONS },
  NamedExtension: { name: 'string' },
  NamedCluster: { name: 'string', cluster: 'v1.Cluster' },
  NamedAuthInfo: { name: 'string', user: 'v1.AuthInfo' },
  NamedContext: { name: 'string', context: 'v1.Context' },
  Cluster: {
    server: 'string',
    'tls-server-name': 'string',
    'insecure-skip-tls-verify': 'bool',
    'certificate-authority': 'string',
    'certificate-authority-data': '[]uint8',
    'proxy-url': 'string',
    'disable-compression': 'bool',
    extensions: NAMED_EXTENSIONS,
  },
  AuthInfo: {
    'client-certificate': 'string',
    'client-certificate-data': '[]uint8',
    'client-key': 'string',
    'client-key-data': '[]uint8',
    token: 'string',
    tokenFile: 'string',
    as: 'string',
    'as-uid': 'string',
    'as-groups': '[]string',
    'as-user-extra': 'map[string][]string',
    username: 'string',
    password: 'string',
    'auth-provider': 'v1.AuthProviderConfig',
    exec: 'v1.ExecConfig',
    extensions: NAMED_EXTENSIONS,
  },
  Context: {
    cluster: 'string',
    user: 'string',
    namespace: 'string',
    extensions: NAMED_EXTENSIONS,
  },
  AuthProviderConfig: { name: 'string', config: 'map[string]string' },
  ExecConfig: {
    command: 'string',
    args: '[]string',
    env: '[]v1.ExecEnvVar',
    apiVersion: 'string',
    installHint: 'string',
    provideClusterInfo: 'bool',
    interactiveMode: 'string',
  },
  ExecEnvVar: { name: 'string', value: 'string' },
}

/** Throws for the first field, in the order of their names, whose value is of another type. */
export function checkTypes(config: object): void {
  checkStruct(config, 'Config', '')
}

function checkStruct(value: object, struct: string, path: string): void {
  const types = STRUCTS[struct]!
  for (const [name, field] of inOrder(value)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type !== undefined) check(field, type, struct, path === '' ? name : `${path}.${name}`)
  }
}

/** `field` is where it stands: elements of lists and maps have no path of their own. */
function check(value: unknown, type: string, struct: string, field: string): void {
  // Null is the zero value of every type.
  if (value === null || value === undefined) return
  const wrong = (): Error =>
    new Error(
      `json: cannot unmarshal ${jsonTypeName(value)} into Go struct field ${struct}.${field} of type ${type}`,
    )
  if (type === 'string' || type === 'bool') {
    if (typeof value !== (type === 'bool' ? 'boolean' : type)) throw wrong()
  } else if (type === '[]uint8') {
    if (typeof value !== 'string') throw wrong()
    checkBase64(value)
  } else if (type.startsWith('[]')) {
    if (!Array.isArray(value)) throw wrong()
    for (const item of value) check(item, type.slice(2), struct, field)
  } else {
    if (typeof value !== 'object' || Array.isArray(value)) throw wrong()
    if (type.startsWith('v1.')) checkStruct(value, type.slice(3), field)
    else
      for (const [, item] of inOrder(value))
        check(item, type.slice('map[string]'.length), struct, field)
  }
}

/** YAML becomes JSON with sorted fields, and the first mistake is the one that is told. */
function inOrder(value: object): readonly [string, unknown][] {
  return Object.entries(value).toSorted(([a], [b]) => compareStrings(a, b))
}

function checkBase64(data: string): void {
  const text = data.replaceAll(/[\r\n]/g, '')
  const bad = /[^A-Za-z0-9+/=]/.exec(text)
  if (bad !== null) throw new Error(`illegal base64 data at input byte ${bad.index}`)
  if (text.length % 4 !== 0)
    throw new Error(`illegal base64 data at input byte ${text.length - (text.length % 4)}`)
}
