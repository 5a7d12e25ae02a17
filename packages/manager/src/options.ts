/** Typed options from flags, and what is wrong with them together. Contract: docs/behaviour/runtime/manager.md. Pure. */
import type { FlagValue, ParsedFlags } from './flags/pflag.ts'
import { managerErrors } from './errors.ts'
import { unknownItems } from './controller-names.ts'
import { gateProblems, gateValues } from './feature-gates.ts'
import { tlsProblems } from './serving/tls-settings.ts'
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

/** Throws one error that names every gate that cannot be set so. */
export function validateGates(options: Options): void {
  const gates = gateProblems(options.gates())
  if (gates.length > 0) throw managerErrors.make('FEATURE_GATE_INVALID', aggregate(gates))
}

/** Throws one error that names every problem. */
export function validate(options: Options): void {
  const problems = [...problemsOf(options)]
  if (problems.length > 0) throw managerErrors.make('OPTIONS_INVALID', aggregate(problems))
}

function* problemsOf(options: Options): Generator<string> {
  yield* unknownItems(options.list('controllers'))
  for (const name of AT_LEAST_ONE) {
    if (options.number(name) < 1)
      yield `${name} must be greater than 0, but got ${options.number(name)}`
  }
  for (const [name, least, most] of RANGES) {
    const value = options.number(name)
    if (value < least || value > most) {
      yield `${name}: must be between ${least} and ${most}, inclusive, but got ${value}`
    }
  }
  if (options.flag('leader-elect') && options.text('leader-elect-resource-lock') !== 'leases') {
    yield 'resourceLock value must be "leases"'
  }
  const cloudProvider = options.text('cloud-provider')
  if (cloudProvider !== '' && cloudProvider !== 'external') {
    yield `--cloud-provider must be empty or external, but got ${JSON.stringify(cloudProvider)}: cloud providers run in cloud-controller-manager`
  }
  if (options.text('cidr-allocator-type') !== 'RangeAllocator') {
    yield `--cidr-allocator-type must be RangeAllocator, but got ${JSON.stringify(options.text('cidr-allocator-type'))}`
  }
  if (options.text('service-cluster-ip-range').split(',').length > 2) {
    yield '--service-cluster-ip-range can not contain more than two entries'
  }
  if (!/^(text|json)$/.test(options.text('logging-format'))) {
    yield `--logging-format: unsupported log format ${JSON.stringify(options.text('logging-format'))}, use text or json`
  }
  if (options.number('attach-detach-reconcile-sync-period') < 1000) {
    yield 'duration time must be greater than one second as set via command line option reconcile-sync-period'
  }
  for (const path of options.list('authorization-always-allow-paths')) {
    if (path.slice(0, -1).includes('*'))
      yield `${JSON.stringify(path)}: * is allowed only at the end of a path`
  }
  yield* tlsProblems(options)
  yield* versionProblems(options)
  yield* moduleProblems(options.list('vmodule'))
  if (options.list('vmodule').length > 0 && options.text('logging-format') !== 'text') {
    yield '--vmodule: only supported for text log format'
  }
  yield* signingProblems(options)
  if (Boolean(options.text('tls-cert-file')) !== Boolean(options.text('tls-private-key-file'))) {
    yield '--tls-cert-file and --tls-private-key-file must be given together'
  }
}

const OLDEST_MINOR = 33
const NEWEST_MINOR = 36

/** `1.35` or `kube=1.35`. */
function minorOf(text: string): number | undefined {
  const minor = /^(?:kube=)?v?1\.(\d+)(?:\.\d+)?$/.exec(text)?.[1]
  return minor === undefined ? undefined : Number(minor)
}

function* versionProblems(options: Options): Generator<string> {
  let newest = NEWEST_MINOR
  for (const flag of ['emulated-version', 'min-compatibility-version']) {
    const what = flag === 'emulated-version' ? 'emulation' : 'minCompatibility'
    for (const text of options.list(flag)) {
      const minor = minorOf(text)
      if (minor === undefined) yield `--${flag}: ${JSON.stringify(text)} is not a version of kube`
      else if (minor < OLDEST_MINOR || minor > newest) {
        yield `${what} version 1.${minor} is not between [1.${OLDEST_MINOR}, 1.${newest}]`
      } else if (flag === 'emulated-version') newest = minor
    }
  }
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
    if ((cert === '') !== (key === '') && options.isGiven(`cluster-signing-${middle}cert-file`)) {
      yield `--cluster-signing-${middle}cert-file and --cluster-signing-${middle}key-file must be given together`
    }
  }
}

/** One problem as it is, several in brackets, as Kubernetes prints aggregates. */
function aggregate(problems: readonly string[]): string {
  return problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]`
}
