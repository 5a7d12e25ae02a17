import { dirname, isAbsolute, join } from 'node:path'
import { GO_TYPE_META, jsonTypeName } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { clientErrors } from '../errors.ts'
import { checkTypes } from './go-types.ts'
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
  const root = new Fields(value)
  for (const name of ['apiVersion', 'kind']) {
    const named = root.value(name)
    if (named === undefined || typeof named === 'string') continue
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonTypeName(named)} into Go struct field .${name} of type string`,
    )
  }
  // Either may be left out.
  const version = root.text('apiVersion') || 'v1'
  const kind = root.text('kind') || 'Config'
  if (version !== 'v1' || kind !== 'Config')
    throw new Error(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)} in scheme "${SCHEME}"`,
    )
  checkTypes(value ?? {})
  const namedEntries = <T>(
    list: string,
    field: string,
    type: string,
    read: (fields: Fields, name: string) => T,
  ): Map<string, T> => {
    const entries = new Map<string, T>()
    for (const named of root.objects(list)) {
      const name = named.text('name') ?? ''
      // Upstream shows the whole list, credentials and all.
      if (entries.has(name))
        throw new Error(
          `error converting *[]Named${type} into *map[string]*api.${type}: duplicate name ${JSON.stringify(name)} in list`,
        )
      entries.set(name, read(named.object(field), name))
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
    .objects('extensions')
    .find((item) => item.text('name') === EXEC_EXTENSION)
  return defined({
    server: fields.text('server'),
    tlsServerName: fields.text('tls-server-name') || undefined,
    insecureSkipTlsVerify: fields.flag('insecure-skip-tls-verify'),
    certificateAuthority: resolved(fields.text('certificate-authority'), folder),
    certificateAuthorityData: fields.base64('certificate-authority-data'),
    proxyUrl: fields.text('proxy-url') || undefined,
    disableCompression: fields.flag('disable-compression'),
    execConfig: extension?.value('extension'),
  })
}

function userOf(fields: Fields, folder: string, origin: AuthProviderConfig['origin']): UserEntry {
  const provider = fields.has('auth-provider') ? fields.object('auth-provider') : undefined
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
    exec: fields.has('exec') ? execOf(fields.object('exec'), folder) : undefined,
  })
}

/** What is empty asks for nothing. */
function impersonationOf(fields: Fields): Impersonation | undefined {
  const user = fields.text('as') ?? ''
  const uid = fields.text('as-uid') || undefined
  const groups = fields.textList('as-groups')
  const extra = fields.textLists('as-user-extra')
  const asked = defined({
    uid,
    groups: groups.length === 0 ? undefined : groups,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  })
  return user === '' && Object.keys(asked).length === 0 ? undefined : { user, ...asked }
}

function execOf(fields: Fields, folder: string): ExecConfig {
  const command = fields.text('command') ?? ''
  return {
    // A bare name is looked up in PATH; anything with a separator is a path.
    command: command.includes('/') ? (resolved(command, folder) ?? '') : command,
    args: fields.textList('args'),
    env: fields.objects('env').map((entry) => ({
      name: entry.text('name') ?? '',
      value: entry.text('value') ?? '',
    })),
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

/** The fields of an object whose types have been checked. Null is as absent. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(value: unknown) {
    this.#fields = (value ?? {}) as Record<string, unknown>
  }

  value(name: string): unknown {
    return this.#fields[name] ?? undefined
  }

  has(name: string): boolean {
    return this.value(name) !== undefined
  }

  text(name: string): string | undefined {
    return this.value(name) as string | undefined
  }

  flag(name: string): boolean | undefined {
    return this.value(name) as boolean | undefined
  }

  base64(name: string): string | undefined {
    return this.text(name)?.replaceAll(/[\r\n]/g, '') || undefined
  }

  objects(name: string): readonly Fields[] {
    return this.#list(name).map((item) => new Fields(item))
  }

  /** A missing one is empty, here and below. */
  object(name: string): Fields {
    return new Fields(this.value(name))
  }

  textList(name: string): readonly string[] {
    return this.#list(name).map((item) => (item ?? '') as string)
  }

  texts(name: string): Readonly<Record<string, string>> {
    return this.#mapped(name, (fields, key) => fields.text(key) ?? '')
  }

  textLists(name: string): Readonly<Record<string, readonly string[]>> {
    return this.#mapped(name, (fields, key) => fields.textList(key))
  }

  #list(name: string): readonly unknown[] {
    return (this.value(name) ?? []) as readonly unknown[]
  }

  #mapped<T>(name: string, read: (fields: Fields, key: string) => T): Readonly<Record<string, T>> {
    const fields = this.object(name)
    return Object.fromEntries(Object.keys(fields.#fields).map((key) => [key, read(fields, key)]))
  }
}
