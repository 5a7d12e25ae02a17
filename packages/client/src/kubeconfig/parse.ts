import { dirname, isAbsolute, join } from 'node:path'
import { GO_TYPE_META, jsonTypeName } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import type {
  AuthProviderConfig,
  ClusterEntry,
  ContextEntry,
  ExecConfig,
  Impersonation,
  Kubeconfig,
  UserEntry,
} from './kubeconfig.ts'

/**
 * A kubeconfig from its text (YAML 1.1 or JSON). Relative paths are taken from the folder of `path`. Unknown fields are
 * ignored; a known field with a value of another type is an error, so an unquoted `n` is no user name.
 */
export async function parseKubeconfig(text: string, path: string): Promise<Kubeconfig> {
  try {
    // Loaded when a file is read: most processes of a cluster in one process never do.
    const { yamlValue } = await import('@gyropilot/foundation/yaml')
    return configOf(yamlValue(text), path)
  } catch (error) {
    throw clientErrors.make(
      'KUBECONFIG_MALFORMED',
      `error loading config file ${JSON.stringify(path)}: ${errorText(error)}`,
      {
        cause: error,
      },
    )
  }
}

/** The text of a kubeconfig file with these fields of a user's auth-provider changed; the rest, comments too, stays. */
export async function withAuthProviderFields(
  text: string,
  user: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const { isMap, parseDocument } = await import('yaml')
  const document = parseDocument(text, { version: '1.1', schema: 'yaml-1.1', merge: true })
  const users = (document.toJS() as { users?: readonly { name?: unknown }[] }).users ?? []
  const index = users.findIndex(({ name }) => name === user)
  const config = ['users', index, 'user', 'auth-provider', 'config']
  if (index === -1 || !isMap(document.getIn(config)))
    throw new Error(`user ${JSON.stringify(user)} has no auth-provider any more`)
  for (const [name, value] of Object.entries(fields)) document.setIn([...config, name], value)
  return document.toString({ lineWidth: 0 })
}

const SCHEME = 'k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50'

function configOf(value: unknown, path: string): Kubeconfig {
  const folder = dirname(path)
  if (value !== null && (typeof value !== 'object' || Array.isArray(value)))
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${GO_TYPE_META}`,
    )
  const root = new Fields(value ?? {}, 'Config', '')
  // Either may be left out.
  const version = root.text('apiVersion') || 'v1'
  const kind = root.text('kind') || 'Config'
  if (version !== 'v1' || kind !== 'Config')
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "${SCHEME}"`,
    )
  const namedEntries = <T>(
    list: string,
    field: string,
    type: string,
    read: (fields: Fields, name: string) => T,
  ): Map<string, T> => {
    const entries = new Map<string, T>()
    for (const item of root.list(list)) {
      const named = new Fields(item, `Named${type}`, list)
      const name = named.text('name') ?? ''
      // Upstream shows the whole list, credentials and all.
      if (entries.has(name))
        throw new Error(
          `error converting *[]Named${type} into *map[string]*api.${type}: duplicate name ${JSON.stringify(name)} in list`,
        )
      entries.set(name, read(named.object(field, type), name))
    }
    return entries
  }
  return {
    currentContext: root.text('current-context') ?? '',
    clusters: namedEntries('clusters', 'cluster', 'Cluster', (fields) => clusterOf(fields, folder)),
    users: namedEntries('users', 'user', 'AuthInfo', (fields, user) =>
      userOf(fields, folder, { path, user }),
    ),
    contexts: namedEntries('contexts', 'context', 'Context', contextOf),
  }
}

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

function clusterOf(fields: Fields, folder: string): ClusterEntry {
  const extension = fields
    .list('extensions')
    .map((item) => item as { name?: unknown; extension?: unknown })
    .find((item) => item?.name === EXEC_EXTENSION)
  return defined({
    server: fields.text('server'),
    tlsServerName: fields.text('tls-server-name') || undefined,
    insecureSkipTlsVerify: fields.flag('insecure-skip-tls-verify'),
    certificateAuthority: resolved(fields.text('certificate-authority'), folder),
    certificateAuthorityData: fields.base64('certificate-authority-data'),
    proxyUrl: fields.text('proxy-url') || undefined,
    disableCompression: fields.flag('disable-compression'),
    execConfig: extension?.extension,
  })
}

function userOf(fields: Fields, folder: string, origin: AuthProviderConfig['origin']): UserEntry {
  const provider = fields.has('auth-provider')
    ? fields.object('auth-provider', 'AuthProviderConfig')
    : undefined
  return defined({
    clientCertificate: resolved(fields.text('client-certificate'), folder),
    clientCertificateData: fields.base64('client-certificate-data'),
    clientKey: resolved(fields.text('client-key'), folder),
    clientKeyData: fields.base64('client-key-data'),
    token: fields.text('token'),
    tokenFile: resolved(fields.text('tokenFile'), folder),
    username: fields.text('username'),
    password: fields.text('password'),
    impersonate: impersonationOf(fields),
    authProvider:
      provider === undefined
        ? undefined
        : { name: provider.text('name') ?? '', config: provider.texts('config'), origin },
    exec: fields.has('exec') ? execOf(fields.object('exec', 'ExecConfig'), folder) : undefined,
  })
}

function impersonationOf(fields: Fields): Impersonation | undefined {
  const user = fields.text('as')
  const uid = fields.text('as-uid')
  const groups = fields.textList('as-groups')
  const extra = fields.has('as-user-extra') ? fields.textLists('as-user-extra') : undefined
  if (user === undefined && uid === undefined && groups.length === 0 && extra === undefined)
    return undefined
  return defined({ user: user ?? '', uid, groups: groups.length === 0 ? undefined : groups, extra })
}

function execOf(fields: Fields, folder: string): ExecConfig {
  const command = fields.text('command') ?? ''
  return {
    // A bare name is looked up in PATH; anything with a separator is a path.
    command: command.includes('/') ? (resolved(command, folder) ?? '') : command,
    args: fields.textList('args'),
    env: fields.list('env').map((item) => {
      const entry = new Fields(item, 'ExecEnvVar', 'users.user.exec.env')
      return { name: entry.text('name') ?? '', value: entry.text('value') ?? '' }
    }),
    apiVersion: fields.text('apiVersion') ?? '',
    interactiveMode: fields.text('interactiveMode') ?? '',
    provideClusterInfo: fields.flag('provideClusterInfo') ?? false,
    installHint: fields.text('installHint') ?? '',
  }
}

function contextOf(fields: Fields): ContextEntry {
  return defined({
    cluster: fields.text('cluster') ?? '',
    user: fields.text('user') ?? '',
    namespace: fields.text('namespace'),
  })
}

function resolved(path: string | undefined, folder: string): string | undefined {
  if (path === undefined || path === '') return undefined
  return isAbsolute(path) ? path : join(folder, path)
}

/** Leaves out what is undefined. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}

/** Typed access to the fields of an object; complains in the words of Go's JSON decoder. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #type: string
  readonly #path: string

  constructor(value: unknown, type: string, path: string) {
    this.#type = type
    this.#path = path
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(
        `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type v1.${type}`,
      )
    }
    this.#fields = value as Record<string, unknown>
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined && this.#fields[name] !== null
  }

  text(name: string): string | undefined {
    const value = this.#fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'string') return value
    throw this.#wrongType(value, name, 'string')
  }

  flag(name: string): boolean | undefined {
    const value = this.#fields[name]
    if (value === undefined || value === null) return undefined
    if (typeof value === 'boolean') return value
    throw this.#wrongType(value, name, 'bool')
  }

  base64(name: string): string | undefined {
    const text = this.text(name)?.replaceAll(/[\r\n]/g, '')
    if (text === undefined || text === '') return undefined
    const bad = /[^A-Za-z0-9+/=]/.exec(text)
    if (bad !== null) throw new Error(`illegal base64 data at input byte ${bad.index}`)
    if (text.length % 4 !== 0)
      throw new Error(`illegal base64 data at input byte ${text.length - (text.length % 4)}`)
    return text
  }

  list(name: string): readonly unknown[] {
    const value = this.#fields[name]
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    throw this.#wrongType(value, name, '[]v1.Named')
  }

  textList(name: string): readonly string[] {
    return this.list(name).map((item) => {
      if (typeof item !== 'string') throw this.#wrongType(item, name, 'string')
      return item
    })
  }

  texts(name: string): Readonly<Record<string, string>> {
    const fields = this.object(name, this.#type)
    return Object.fromEntries(
      Object.keys(fields.#fields).map((key) => [key, fields.text(key) ?? '']),
    )
  }

  textLists(name: string): Readonly<Record<string, readonly string[]>> {
    const fields = this.object(name, this.#type)
    return Object.fromEntries(Object.keys(fields.#fields).map((key) => [key, fields.textList(key)]))
  }

  /** An object; absent is empty. */
  object(name: string, type: string): Fields {
    const value = this.#fields[name] ?? {}
    if (typeof value !== 'object' || Array.isArray(value))
      throw this.#wrongType(value, name, `v1.${type}`)
    return new Fields(value, type, this.#pathOf(name))
  }

  #pathOf(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`
  }

  #wrongType(value: unknown, name: string, wanted: string): Error {
    const field = `${this.#type}.${this.#pathOf(name)}`
    return new Error(
      `json: cannot unmarshal ${jsonTypeName(value)} into Go struct field ${field} of type ${wanted}`,
    )
  }
}
