/** Typed options from flags, and what is wrong with them together. Contract: docs/behaviour/runtime/manager.md. Pure. */
import { aggregateText, formatGoDuration } from '@gyropilot/foundation'
import type { FlagValue, ParsedFlags } from '../flags/pflag.ts'
import { managerErrors } from '../errors.ts'
import { unknownItems } from '../controller-names.ts'
import { dependencyProblems, gateProblems, gateValues } from './feature-gates.ts'
import { metricProblems } from '../metrics/metric-filters.ts'
import { tlsProblem } from '../serving/tls-settings.ts'
import { NEWEST_MINOR, parseVersion } from './go-version.ts'
import type { CompatibilityVersions, Version } from './go-version.ts'

/** Reads a flag's value by type; the flag table is the only place that knows names and defaults. */
export class Options {
  readonly #parsed: ParsedFlags

  constructor(parsed: ParsedFlags) {
    this.#parsed = parsed
  }

  text(name: string): string {
    return this.#value(name) as string
  }

  number(name: string): number {
    return this.#value(name) as number
  }

  flag(name: string): boolean {
    return this.#value(name) as boolean
  }

  list(name: string): readonly string[] {
    return this.#value(name) as readonly string[]
  }

  mapping(name: string): ReadonlyMap<string, string> {
    return this.#value(name) as ReadonlyMap<string, string>
  }

  gates(): ReadonlyMap<string, boolean> {
    return this.#value('feature-gates') as ReadonlyMap<string, boolean>
  }

  isGiven(name: string): boolean {
    return this.#parsed.given.has(name)
  }

  get given(): ReadonlySet<string> {
    return this.#parsed.given
  }

  /** Of every gate, as the version that is emulated knows it. */
  gateValues(): Readonly<Record<string, boolean>> {
    return gateValues(this.gates(), compatibilityVersions(this))
  }

  /** Whether a gate is on, by its setting or its default. */
  isGateOn(name: string): boolean {
    return this.gateValues()[name] ?? false
  }

  get values(): ReadonlyMap<string, FlagValue> {
    return this.#parsed.values
  }

  #value(name: string): FlagValue {
    const value = this.#parsed.values.get(name)
    if (value === undefined) throw new Error(`no flag is named ${name}`)
    return value
  }
}

/** Of numbers that not everything is accepted of, in the order in which upstream looks at them. */
type Bound =
  /** Workers of which there must be one; and what is said of too few, where it is said otherwise. */
  readonly [name: string, wording?: string] | readonly [name: string, least: number, most: number]

const BOUNDS: readonly Bound[] = [
  ['concurrent-daemonset-syncs'],
  ['concurrent-device-taint-eviction-syncs', 'greater than zero,'],
  ['concurrent-resourceclaim-syncs', 'larger than 0,'],
  ['concurrent-statefulset-syncs'],
  ['concurrent-service-endpoint-syncs', 1, 50],
  ['max-endpoints-per-slice', 1, 1000],
  ['mirroring-concurrent-service-endpoint-syncs', 1, 50],
  ['mirroring-max-endpoints-per-subset', 1, 1000],
  ['concurrent-ephemeralvolume-syncs'],
  ['concurrent-horizontal-pod-autoscaler-syncs'],
  ['concurrent-job-syncs'],
  ['concurrent-cron-job-syncs'],
]

const HIGHEST_PORT = 65_535

/** Throws for versions that cannot be read, and one error that names every gate that cannot be set so. */
export function validateGates(options: Options): void {
  const versions = VERSION_FLAGS.flatMap((flag) => versionsOf(options, flag).problem ?? [])
  if (versions.length > 0) throw managerErrors.make('OPTIONS_INVALID', versions[0]!)
  const emulated = compatibilityVersions(options)
  const unsettable = gateProblems(options.gates(), emulated)
  const gates = unsettable.length > 0 ? unsettable : dependencyProblems(options.gates(), emulated)
  if (gates.length > 0) throw managerErrors.make('FEATURE_GATE_INVALID', aggregateText(gates))
}

/** Throws one error that names every problem. */
export function validate(
  options: Options,
  problemsOf: (options: Options) => Iterable<string> = kubeControllerManagerProblems,
): void {
  const problems = [...problemsOf(options)]
  if (problems.length > 0) throw managerErrors.make('OPTIONS_INVALID', aggregateText(problems))
}

/** Throws one error for what is wrong with the flags of logs, alone: upstream begins to log before it looks at the rest. */
export function validateLogging(options: Options): void {
  validate(options, loggingProblems)
}

/** Throws the first of what is wrong with what would be served with, once a cluster is known. */
export function validateServing(options: Options): void {
  if (options.number('secure-port') === 0) return
  const [problem] = servingProblems(options)
  if (problem !== undefined) throw managerErrors.make('OPTIONS_INVALID', problem)
}

/** In upstream's order. */
export function* kubeControllerManagerProblems(options: Options): Generator<string> {
  yield* versionProblems(options)
  yield* electionProblems(options)
  yield* unknownItems(options.list('controllers'))
  if (options.number('attach-detach-reconcile-sync-period') < 1000) {
    yield 'duration time must be greater than one second as set via command line option reconcile-sync-loop-period'
  }
  yield* signingProblems(options)
  for (const [name, least, most] of BOUNDS) {
    const value = options.number(name)
    if (typeof least === 'number') yield* rangeProblems(name, value, least, most!)
    else if (value < 1) yield `${name} must be ${least ?? 'greater than 0, but'} got ${value}`
  }
  yield* serviceRangeProblems(options)
  yield* portProblems(options, 'secure-port')
  yield* frontProxyProblems(options)
  yield* metricProblems(options)
  const cloudProvider = options.text('cloud-provider')
  if (cloudProvider !== '' && cloudProvider !== 'external') {
    yield `cloud provider ${JSON.stringify(cloudProvider)} was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider`
  }
  yield* allocatorProblems(options)
}

export function* serviceRangeProblems(options: Options): Generator<string> {
  if (options.text('service-cluster-ip-range').split(',').length > 2)
    yield '--service-cluster-ip-range can not contain more than two entries'
}

/** There is one: another one must not be taken for it, wherever node-ipam-controller runs. */
export function* allocatorProblems(options: Options): Generator<string> {
  const allocator = options.text('cidr-allocator-type')
  if (allocator !== '' && allocator !== 'RangeAllocator')
    yield `built-in cloud providers are disabled. The ipam ${allocator} is not available`
}

function* rangeProblems(
  name: string,
  value: number,
  least: number,
  most: number,
): Generator<string> {
  if (value < least) yield `${name} must not be less than ${least}, but got ${value}`
  if (value > most) yield `${name} must not be more than ${most}, but got ${value}`
}

/** Upstream says 0 of ports that are too low and 1 of those that are too high; 0 turns the port off all the same. */
export function* portProblems(options: Options, name: string): Generator<string> {
  const port = options.number(name)
  if (port < 0)
    yield `--${name} ${port} must be between 0 and ${HIGHEST_PORT}, inclusive. 0 for turning off secure port`
  if (port > HIGHEST_PORT)
    yield `--${name} ${port} must be between 1 and ${HIGHEST_PORT}, inclusive. It cannot be turned off with 0`
}

/** Of flags that all managers have. */
export function* commonProblems(options: Options): Generator<string> {
  yield* versionProblems(options)
  yield* electionProblems(options)
  yield* frontProxyProblems(options)
  yield* metricProblems(options)
}

function* electionProblems(options: Options): Generator<string> {
  if (options.flag('leader-elect') && options.text('leader-elect-resource-lock') !== 'leases') {
    yield 'resourceLock value must be "leases"'
  }
}

/** Those with a header of nothing are looked at in this order. */
const FRONT_PROXY_FLAGS = [
  'requestheader-username-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
  'requestheader-allowed-names',
  'requestheader-uid-headers',
]

function* frontProxyProblems(options: Options): Generator<string> {
  for (const flag of FRONT_PROXY_FLAGS) {
    if (options.list(flag).some((item) => item.trim() === ''))
      yield `empty value in ${JSON.stringify(flag)}`
  }
  const uids = options.list('requestheader-uid-headers')
  if (uids.length > 0 && !uids.some((name) => name.toLowerCase() === 'x-remote-uid'))
    yield '--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API aggregation will not work'
}

function* servingProblems(options: Options): Generator<string> {
  if (Boolean(options.text('tls-cert-file')) !== Boolean(options.text('tls-private-key-file')))
    yield 'missing filename for serving cert'
  const tls = tlsProblem(options)
  if (tls !== undefined) yield tls
  for (const path of options.list('authorization-always-allow-paths')) {
    const shown = path.replace(/^\//, '')
    if (path.slice(0, -1).includes('*')) yield `only trailing * allowed in ${JSON.stringify(shown)}`
  }
}

function* loggingProblems(options: Options): Generator<string> {
  const everyMs = options.number('log-flush-frequency')
  if (everyMs <= 0)
    yield `flushFrequency: Invalid value: ${JSON.stringify(formatGoDuration(everyMs))}: Must be greater than zero`
  const format = options.text('logging-format')
  if (!/^(text|json)$/.test(format))
    yield `format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`
  if (options.list('vmodule').length > 0 && format !== 'text')
    yield 'vmodule: Forbidden: Only supported for text log format'
  yield* alphaLoggingProblems(options)
}

function* alphaLoggingProblems(options: Options): Generator<string> {
  if (options.isGateOn('LoggingAlphaOptions')) return
  for (const format of ['text', 'json']) {
    const isSplit = options.flag(`log-${format}-split-stream`)
    const isBuffered = Number.parseFloat(options.text(`log-${format}-info-buffer-size`)) !== 0
    for (const [isGiven, field] of [
      [isSplit, 'splitStream'],
      [isBuffered, 'infoBufferSize'],
    ] as const)
      if (isGiven)
        yield `options.${format}.${field}: Forbidden: Feature LoggingAlphaOptions is disabled`
  }
}

const OLDEST_MINOR = 33

const VERSION_FLAGS = ['emulated-version', 'min-compatibility-version']

/** Of `1.35` or `kube=1.35`, given once. */
function versionsOf(
  options: Options,
  flag: string,
): { readonly version?: Version; readonly problem?: string } {
  let seen: { readonly named: string; readonly version: Version } | undefined
  for (const text of options.list(flag)) {
    const equals = text.indexOf('=')
    const component = equals < 0 ? 'kube' : text.slice(0, equals)
    const version = parseVersion(text.slice(equals + 1))
    if (typeof version === 'string') return { problem: version }
    const named = `${component}=${version.numbers.join('.')}`
    if (component !== 'kube') return { problem: `component not registered: ${component}` }
    if ((version.numbers[2] ?? 0) !== 0)
      return { problem: `patch version not allowed, got: ${named}` }
    if (seen !== undefined) return { problem: `duplicate version flag, ${seen.named} and ${named}` }
    seen = { named, version }
  }
  return seen === undefined ? {} : { version: seen.version }
}

function minorOf(options: Options, flag: string): number | undefined {
  return versionsOf(options, flag).version?.numbers[1]
}

/** What --emulated-version and --min-compatibility-version say. Gates are as in that version; what they do not gate is as in 1.36. */
export function compatibilityVersions(options: Options): CompatibilityVersions {
  const emulated = minorOf(options, 'emulated-version') ?? NEWEST_MINOR
  const compatible =
    minorOf(options, 'min-compatibility-version') ?? Math.max(emulated - 1, OLDEST_MINOR)
  return { emulation: `1.${emulated}`, minCompatibility: `1.${compatible}` }
}

function* versionProblems(options: Options): Generator<string> {
  const emulated = versionsOf(options, 'emulated-version').version?.numbers ?? [1, NEWEST_MINOR]
  const compatible = versionsOf(options, 'min-compatibility-version').version?.numbers ?? [
    1,
    OLDEST_MINOR,
  ]
  if (!isWithin(emulated, NEWEST_MINOR))
    yield `emulation version ${shortVersion(emulated)} is not between [1.${OLDEST_MINOR}, 1.${NEWEST_MINOR}.0]`
  if (emulated[0] !== 1 ? compatible[0] !== 1 : !isWithin(compatible, emulated[1]!))
    yield `minCompatibilityVersion version ${shortVersion(compatible)} is not between [1.${OLDEST_MINOR}, ${shortVersion(emulated)}]`
}

function isWithin([major, minor = 0]: readonly number[], newest: number): boolean {
  return major === 1 && minor >= OLDEST_MINOR && minor <= newest
}

function shortVersion([major, minor]: readonly number[]): string {
  return `${major}.${minor}`
}

/** In the middle of a signer's flags, and what upstream calls the pair. */
const SIGNERS = [
  ['kubelet-serving', 'kubelet-serving'],
  ['kubelet-client', 'kube-apiserver-client'],
  ['kube-apiserver-client', 'kube-apiserver'],
  ['legacy-unknown', 'legacy-unknown'],
] as const

/** Half of the general pair alone is no mistake: nothing is signed then. */
function* signingProblems(options: Options): Generator<string> {
  const isGiven = (middle: string, kind: 'cert' | 'key'): boolean =>
    options.text(`cluster-signing-${middle}${kind}-file`) !== ''
  let hasOwn = false
  for (const [signer, shown] of SIGNERS) {
    const cert = isGiven(`${signer}-`, 'cert')
    const key = isGiven(`${signer}-`, 'key')
    hasOwn ||= cert || key
    if (cert && !key) yield `"cluster-signing-${shown}": cannot specify cert without key`
    if (key && !cert) yield `"cluster-signing-${shown}": cannot specify key without cert`
  }
  if (hasOwn && (isGiven('', 'cert') || isGiven('', 'key')))
    yield 'cannot specify --cluster-signing-{cert,key}-file and other --cluster-signing-*-file flags at the same time'
}
