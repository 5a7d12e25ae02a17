/** Typed options from flags, and what is wrong with them together. Contract: docs/behaviour/runtime/manager.md. Pure. */
import { aggregateText } from '@gyropilot/foundation'
import type { FlagValue, ParsedFlags } from '../flags/pflag.ts'
import type { CompatibilityVersions } from '../metrics/binary-metrics.ts'
import { managerErrors } from '../errors.ts'
import { unknownItems } from '../controller-names.ts'
import { dependencyProblems, gateProblems, gateValues } from './feature-gates.ts'
import { allowedLabelsProblem } from '../metrics/metric-filters.ts'
import { tlsProblems } from '../serving/tls-settings.ts'
import { moduleProblems } from './verbosity.ts'

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

/** Workers that must be at least one; the others accept anything. */
const AT_LEAST_ONE = [
  'concurrent-daemonset-syncs',
  'concurrent-statefulset-syncs',
  'concurrent-job-syncs',
  'concurrent-cron-job-syncs',
  'concurrent-horizontal-pod-autoscaler-syncs',
  'concurrent-ephemeralvolume-syncs',
  'concurrent-resourceclaim-syncs',
  'concurrent-device-taint-eviction-syncs',
]

const RANGES: readonly (readonly [string, number, number])[] = [
  ['concurrent-service-endpoint-syncs', 1, 50],
  ['max-endpoints-per-slice', 1, 1000],
  ['mirroring-concurrent-service-endpoint-syncs', 1, 50],
  ['mirroring-max-endpoints-per-subset', 1, 1000],
  ['secure-port', 0, 65535],
]

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
  for (const name of AT_LEAST_ONE) {
    if (options.number(name) < 1)
      yield `${name} must be greater than 0, but got ${options.number(name)}`
  }
  for (const [name, least, most] of RANGES) yield* rangeProblems(options, name, least, most)
  const cloudProvider = options.text('cloud-provider')
  if (cloudProvider !== '' && cloudProvider !== 'external') {
    yield `--cloud-provider must be empty or external, but got ${JSON.stringify(cloudProvider)}: cloud providers run in cloud-controller-manager`
  }
  const allocator = options.text('cidr-allocator-type')
  if (allocator !== 'RangeAllocator')
    yield `built-in cloud providers are disabled. The ipam ${allocator} is not available`
  if (options.text('service-cluster-ip-range').split(',').length > 2) {
    yield '--service-cluster-ip-range can not contain more than two entries'
  }
  if (options.number('attach-detach-reconcile-sync-period') < 1000) {
    yield 'duration time must be greater than one second as set via command line option reconcile-sync-period'
  }
  yield* commonProblems(options)
  yield* signingProblems(options)
}

export function* rangeProblems(
  options: Options,
  name: string,
  least: number,
  most: number,
): Generator<string> {
  const value = options.number(name)
  if (value >= least && value <= most) return
  yield `${name}: must be between ${least} and ${most}, inclusive, but got ${value}`
}

/** Of flags that all managers have. */
export function* commonProblems(options: Options): Generator<string> {
  if (options.flag('leader-elect') && options.text('leader-elect-resource-lock') !== 'leases') {
    yield 'resourceLock value must be "leases"'
  }
  if (!/^(text|json)$/.test(options.text('logging-format'))) {
    yield `--logging-format: unsupported log format ${JSON.stringify(options.text('logging-format'))}, use text or json`
  }
  for (const path of options.list('authorization-always-allow-paths')) {
    if (path.slice(0, -1).includes('*'))
      yield `${JSON.stringify(path)}: * is allowed only at the end of a path`
  }
  const labels = allowedLabelsProblem(options.mapping('allow-metric-labels'))
  if (labels !== undefined) yield labels
  const hidden = options.text('show-hidden-metrics-for-version')
  if (hidden !== '' && hidden !== `1.${NEWEST_MINOR - 1}`) {
    yield `--show-hidden-metrics-for-version must be omitted or have the value '1.${NEWEST_MINOR - 1}'. Only the previous minor version is allowed`
  }
  yield* tlsProblems(options)
  yield* versionProblems(options)
  yield* moduleProblems(options.list('vmodule'))
  if (options.list('vmodule').length > 0 && options.text('logging-format') !== 'text') {
    yield '--vmodule: only supported for text log format'
  }
  if (Boolean(options.text('tls-cert-file')) !== Boolean(options.text('tls-private-key-file'))) {
    yield '--tls-cert-file and --tls-private-key-file must be given together'
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
    yield `emulation version 1.${emulated} is not between [1.${OLDEST_MINOR}, 1.${NEWEST_MINOR}]`
  if (compatible < OLDEST_MINOR || compatible > emulated)
    yield `minCompatibilityVersion version 1.${compatible} is not between [1.${OLDEST_MINOR}, 1.${emulated}]`
}

const SIGNERS = ['kubelet-serving', 'kubelet-client', 'kube-apiserver-client', 'legacy-unknown']

function* signingProblems(options: Options): Generator<string> {
  const file = (middle: string, kind: 'cert' | 'key'): string =>
    options.text(`cluster-signing-${middle}${kind}-file`)
  const general = file('', 'cert') !== '' || file('', 'key') !== ''
  for (const middle of ['', ...SIGNERS.map((signer) => `${signer}-`)]) {
    const cert = file(middle, 'cert')
    const key = file(middle, 'key')
    if (middle !== '' && general && (cert !== '' || key !== '')) {
      yield `cannot specify --cluster-signing-${middle}cert-file or -key-file together with --cluster-signing-cert-file or -key-file`
    }
    if ((cert === '') !== (key === '')) {
      yield `--cluster-signing-${middle}cert-file and --cluster-signing-${middle}key-file must be given together`
    }
  }
}
