/** What the stand-in for kube-apiserver was asked for. Pure: files are read by who runs it. */
import type { AdmissionSelection, AuthorizationMode, UserInfo } from '@gyropilot/api-server'
import { selectionProblem } from '@gyropilot/api-server/admission-selection'
import { AUTHORIZATION_MODES } from '@gyropilot/api-server/authorization-modes'
import { parseRuntimeConfig } from '@gyropilot/api-server/runtime-config'
import type { RuntimeConfig } from '@gyropilot/api-server/runtime-config'
import { parseCidr } from '@gyropilot/api'
import { gateProblems } from '@gyropilot/manager/feature-gates'
import { parseFlags } from '@gyropilot/manager/flags'
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { gyroErrors } from '../errors.ts'
import { apiServerFlags } from './api-server-flags.ts'
import { meaninglessFlags, unbuiltFlags } from './unused-api-server-flags.ts'

export interface ApiServerFlagOptions {
  readonly help: boolean
  readonly version: boolean
  readonly bindAddress: string
  readonly securePort: number
  /** Empty: none was given. */
  readonly advertiseAddress: string
  readonly certDir: string
  readonly tlsCertFile: string
  readonly tlsPrivateKeyFile: string
  readonly clientCaFile: string
  readonly frontProxyCaFile: string
  readonly proxyClientCertFile: string
  readonly proxyClientKeyFile: string
  readonly frontProxyNames: readonly string[]
  readonly tokenAuthFile: string
  readonly anonymousAuthentication: boolean
  readonly authorizationModes: readonly AuthorizationMode[]
  readonly admissionSelection: AdmissionSelection
  readonly apiAudiences: readonly string[]
  readonly serviceAccountIssuers: readonly string[]
  readonly serviceAccountKeyFiles: readonly string[]
  readonly serviceAccountSigningKeyFile: string
  readonly serviceRanges: readonly string[]
  readonly runtimeConfig: RuntimeConfig
  readonly featureGates: ReadonlyMap<string, boolean>
  readonly readingLimit: number
  readonly mutatingLimit: number
  readonly verbosity: number
  /** Lines about flags that were set and are not built. */
  readonly warnings: readonly string[]
}

const PROGRAM = 'kube-apiserver'
const FEATURE_GATES: FlagDefinition = {
  name: 'feature-gates',
  type: 'mapStringBool',
  default: '',
  help: 'Gates that guard built-in kinds and their fields: Name=true.',
}

export const allApiServerFlags: readonly FlagDefinition[] = [
  ...apiServerFlags,
  FEATURE_GATES,
  ...meaninglessFlags,
  ...unbuiltFlags,
].toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** Throws KUBE_APISERVER_FLAG_INVALID, in kube-apiserver's words where it refuses too. */
export function apiServerFlagOptions(args: readonly string[]): ApiServerFlagOptions {
  const { values, given } = parseFlags(allApiServerFlags, args, PROGRAM)
  const text = (name: string) => values.get(name) as string
  const list = (name: string) => (values.get(name) as readonly string[]).filter((item) => item)
  const admissionSelection = {
    enabled: list('enable-admission-plugins'),
    disabled: list('disable-admission-plugins'),
  }
  const options: ApiServerFlagOptions = {
    help: values.get('help') as boolean,
    version: text('version') !== 'false',
    bindAddress: text('bind-address'),
    securePort: values.get('secure-port') as number,
    advertiseAddress: text('advertise-address'),
    certDir: text('cert-dir'),
    tlsCertFile: text('tls-cert-file'),
    tlsPrivateKeyFile: text('tls-private-key-file'),
    clientCaFile: text('client-ca-file'),
    frontProxyCaFile: text('requestheader-client-ca-file'),
    proxyClientCertFile: text('proxy-client-cert-file'),
    proxyClientKeyFile: text('proxy-client-key-file'),
    frontProxyNames: list('requestheader-allowed-names'),
    tokenAuthFile: text('token-auth-file'),
    anonymousAuthentication: values.get('anonymous-auth') as boolean,
    authorizationModes: authorizationModes(list('authorization-mode')),
    admissionSelection,
    apiAudiences: list('api-audiences'),
    serviceAccountIssuers: list('service-account-issuer'),
    serviceAccountKeyFiles: list('service-account-key-file'),
    serviceAccountSigningKeyFile: text('service-account-signing-key-file'),
    serviceRanges: text('service-cluster-ip-range').split(','),
    runtimeConfig: runtimeConfig(list('runtime-config')),
    featureGates: values.get('feature-gates') as ReadonlyMap<string, boolean>,
    readingLimit: values.get('max-requests-inflight') as number,
    mutatingLimit: values.get('max-mutating-requests-inflight') as number,
    verbosity: values.get('v') as number,
    warnings: unbuiltFlags
      .filter(({ name }) => given.has(name))
      .map(({ name }) => `--${name} has no effect: it is not built in this server`)
      .toSorted(),
  }
  if (!options.help && !options.version) check(options, list('etcd-servers'))
  return options
}

function check(options: ApiServerFlagOptions, etcdServers: readonly string[]): void {
  const problems = [
    ...(etcdServers.length === 0 ? ['--etcd-servers must be specified'] : []),
    ...(options.serviceAccountIssuers.length === 0
      ? ['service-account-issuer is a required flag']
      : []),
    ...(options.serviceAccountSigningKeyFile === ''
      ? ['--service-account-signing-key-file is a required flag']
      : []),
    ...(options.serviceAccountKeyFiles.length === 0
      ? ['--service-account-key-file must be set']
      : []),
    ...portProblem(options.securePort),
    ...rangeProblems(options.serviceRanges),
    ...gateProblems(options.featureGates),
  ]
  const selection = selectionProblem(options.admissionSelection)
  if (selection !== undefined) problems.push(selection)
  if ((options.tlsCertFile === '') !== (options.tlsPrivateKeyFile === ''))
    problems.push('--tls-cert-file and --tls-private-key-file must be given together')
  const [first = ''] = problems
  if (problems.length > 0) throw invalid(problems.length === 1 ? first : `[${problems.join(', ')}]`)
}

function portProblem(port: number): readonly string[] {
  if (port >= 1 && port <= 65_535) return []
  return [
    `--secure-port ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`,
  ]
}

function rangeProblems(ranges: readonly string[]): readonly string[] {
  if (ranges.length > 2)
    return ['--service-cluster-ip-range must not contain more than two entries']
  return ranges.flatMap((range, index) =>
    parseCidr(range) === undefined
      ? [`service-cluster-ip-range[${index}] is not a valid cidr`]
      : [],
  )
}

function authorizationModes(names: readonly string[]): readonly AuthorizationMode[] {
  if (names.length === 0) return ['AlwaysAllow']
  for (const name of names) {
    if (name === 'Webhook' || name === 'ABAC')
      throw invalid(`authorization-mode ${name} is not built in this server: use RBAC or Node`)
    if (!isMode(name))
      throw invalid(`authorization-mode ${JSON.stringify(name)} is not a valid mode`)
  }
  if (new Set(names).size < names.length) {
    const shown = names.map((name) => JSON.stringify(name)).join(' ')
    throw invalid(`authorization-mode [${shown}] has mode specified more than once`)
  }
  return names.filter(isMode)
}

function isMode(name: string): name is AuthorizationMode {
  return (AUTHORIZATION_MODES as readonly string[]).includes(name)
}

function runtimeConfig(items: readonly string[]): RuntimeConfig {
  const config = parseRuntimeConfig(items)
  if (typeof config === 'string') throw invalid(`--runtime-config: ${config}`)
  return config
}

/** Lines of a static token file: token, user, uid, and groups in one quoted field. Throws for a line that is none. */
export function staticTokens(text: string): ReadonlyMap<string, UserInfo> {
  const tokens = new Map<string, UserInfo>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const fields = csvFields(line)
    const [token = '', name = '', uid = '', groups = ''] = fields
    if (fields.length < 3)
      throw invalid(
        `--token-auth-file: line ${index + 1} must have at least 3 columns (token, user name, user uid), found ${fields.length}`,
      )
    if (token === '') continue
    tokens.set(token, {
      name,
      uid,
      groups: groups === '' ? [] : groups.split(',').map((group) => group.trim()),
      extra: {},
    })
  }
  return tokens
}

function csvFields(line: string): readonly string[] {
  const fields = line.trim().matchAll(/(?:^|,)\s*(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...fields].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
}

function invalid(message: string): Error {
  return gyroErrors.make('KUBE_APISERVER_FLAG_INVALID', message)
}
