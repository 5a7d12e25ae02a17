/** Typed options from flags, and what is wrong with them together. Contract: docs/behaviour/runtime/manager.md. Pure. */
import { aggregateText } from '@gyropilot/foundation'
import type { FlagValue, ParsedFlags } from '../flags/pflag.ts'
import type { CompatibilityVersions } from '../metrics/binary-metrics.ts'
import { managerErrors } from '../errors.ts'
import { unknownItems } from '../controller-names.ts'
import { dependencyProblems, gateProblems, gateValues } from './feature-gates.ts'
import { allowedLabelsProblem } from '../metrics/metric-filters.ts'
import { tlsProblems } from '../serving/tls-settings.ts'

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

  /** Whether a gate is on, by its setting or its default. */
  isGateOn(name: string): boolean {
    return gateValues(this.gates())[name] ?? false
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

/** Workers that must be at least one, the others accept anything; and what is said of too few, where it is said otherwise. */
const AT_LEAST_ONE: readonly (readonly [string, wording?: string])[] = [
  ['concurrent-daemonset-syncs'],
  ['concurrent-statefulset-syncs'],
  ['concurrent-job-syncs'],
  ['concurrent-cron-job-syncs'],
  ['concurrent-horizontal-pod-autoscaler-syncs'],
  ['concurrent-ephemeralvolume-syncs'],
  ['concurrent-resourceclaim-syncs', 'larger than 0,'],
  ['concurrent-device-taint-eviction-syncs', 'greater than zero,'],
]

const RANGES: readonly (readonly [string, number, number])[] = [
  ['concurrent-service-endpoint-syncs', 1, 50],
  ['max-endpoints-per-slice', 1, 1000],
  ['mirroring-concurrent-service-endpoint-syncs', 1, 50],
  ['mirroring-max-endpoints-per-subset', 1, 1000],
]

const HIGHEST_PORT = 65_535

/** Throws for versions that cannot be read, and one error that names every gate that cannot be set so. */
export function validateGates(options: Options): void {
  const versions = VERSION_FLAGS.flatMap((flag) => versionsOf(options, flag).problem ?? [])
  if (versions.length > 0) throw managerErrors.make('OPTIONS_INVALID', versions[0]!)
  const unsettable = gateProblems(options.gates())
  const gates = unsettable.length > 0 ? unsettable : dependencyProblems(options.gates())
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

export function* kubeControllerManagerProblems(options: Options): Generator<string> {
  yield* unknownItems(options.list('controllers'))
  for (const [name, wording = 'greater than 0, but'] of AT_LEAST_ONE) {
    if (options.number(name) < 1) yield `${name} must be ${wording} got ${options.number(name)}`
  }
  for (const [name, least, most] of RANGES) yield* rangeProblems(options, name, least, most)
  yield* portProblems(options, 'secure-port')
  const cloudProvider = options.text('cloud-provider')
  if (cloudProvider !== '' && cloudProvider !== 'external') {
    yield `cloud provider ${JSON.stringify(cloudProvider)} was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external and migrate to an external cloud provider`
  }
  const allocator = options.text('cidr-allocator-type')
  if (allocator !== 'RangeAllocator')
    yield `built-in cloud providers are disabled. The ipam ${allocator} is not available`
  if (options.text('service-cluster-ip-range').split(',').length > 2) {
    yield '--service-cluster-ip-range can not contain more than two entries'
  }
  if (options.number('attach-detach-reconcile-sync-period') < 1000) {
    yield 'duration time must be greater than one second as set via command line option reconcile-sync-loop-period'
  }
  yield* commonProblems(options)
  yield* signingProblems(options)
}

function* rangeProblems(
  options: Options,
  name: string,
  least: number,
  most: number,
): Generator<string> {
  const value = options.number(name)
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
  if (options.flag('leader-elect') && options.text('leader-elect-resource-lock') !== 'leases') {
    yield 'resourceLock value must be "leases"'
  }
  if (!/^(text|json)$/.test(options.text('logging-format'))) {
    yield `format: Invalid value: ${JSON.stringify(options.text('logging-format'))}: Unsupported log format`
  }
  yield* alphaLoggingProblems(options)
  for (const path of options.list('authorization-always-allow-paths')) {
    if (path.slice(0, -1).includes('*'))
      yield `${JSON.stringify(path)}: * is allowed only at the end of a path`
  }
  const labels = allowedLabelsProblem(options.mapping('allow-metric-labels'))
  if (labels !== undefined) yield labels
  const hidden = options.text('show-hidden-metrics-for-version')
  if (hidden !== '' && hidden !== `1.${NEWEST_MINOR - 1}`) {
    yield `metrics.showHiddenMetricsForVersion: Invalid value: ${JSON.stringify(hidden)}: must be omitted or have the value '1.${NEWEST_MINOR - 1}'; only the previous minor version is allowed`
  }
  yield* servingProblems(options)
  yield* versionProblems(options)
  if (options.list('vmodule').length > 0 && options.text('logging-format') !== 'text') {
    yield 'vmodule: Forbidden: Only supported for text log format'
  }
}

/** Where nothing is served nobody looks at what it would be served with. */
function* servingProblems(options: Options): Generator<string> {
  if (options.number('secure-port') === 0) return
  yield* tlsProblems(options)
  if (Boolean(options.text('tls-cert-file')) !== Boolean(options.text('tls-private-key-file'))) {
    yield 'missing filename for serving cert'
  }
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
const NEWEST_MINOR = 36

const VERSION_FLAGS = ['emulated-version', 'min-compatibility-version']

/** Of `1.35` or `kube=1.35`, given once. */
function versionsOf(
  options: Options,
  flag: string,
): { readonly minor?: number; readonly problem?: string } {
  let seen: string | undefined
  let minor: number | undefined
  for (const text of options.list(flag)) {
    const named = text.includes('=') ? text : `kube=${text}`
    const [component = '', version = ''] = named.split('=')
    if (component !== 'kube') return { problem: `component not registered: ${component}` }
    const [, digits, patch] = /^v?1\.(\d+)(?:\.(\d+))?$/.exec(version) ?? []
    if (digits === undefined)
      return { problem: `could not parse ${JSON.stringify(version)} as version` }
    if (patch !== undefined) return { problem: `patch version not allowed, got: ${named}` }
    if (seen !== undefined) return { problem: `duplicate version flag, ${seen} and ${named}` }
    seen = named
    minor = Number(digits)
  }
  return minor === undefined ? {} : { minor }
}

/** What --emulated-version and --min-compatibility-version say. The loops are those of 1.36 all the same. */
export function compatibilityVersions(options: Options): CompatibilityVersions {
  const emulated = versionsOf(options, 'emulated-version').minor ?? NEWEST_MINOR
  const compatible =
    versionsOf(options, 'min-compatibility-version').minor ?? Math.max(emulated - 1, OLDEST_MINOR)
  return { emulation: `1.${emulated}`, minCompatibility: `1.${compatible}` }
}

function* versionProblems(options: Options): Generator<string> {
  const emulated = versionsOf(options, 'emulated-version').minor ?? NEWEST_MINOR
  const compatible = versionsOf(options, 'min-compatibility-version').minor ?? OLDEST_MINOR
  if (emulated < OLDEST_MINOR || emulated > NEWEST_MINOR)
    yield `emulation version 1.${emulated} is not between [1.${OLDEST_MINOR}, 1.${NEWEST_MINOR}.0]`
  if (compatible < OLDEST_MINOR || compatible > emulated)
    yield `minCompatibilityVersion version 1.${compatible} is not between [1.${OLDEST_MINOR}, 1.${emulated}]`
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
