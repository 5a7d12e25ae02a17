/** What `gyro up` was asked for. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { parseRuntimeConfig } from '@gyropilot/api-server/runtime-config'
import type { RuntimeConfig } from '@gyropilot/api-server/runtime-config'
import { knownControllers, unknownItems, unknownNames } from '@gyropilot/manager/controller-names'
import {
  dependencyProblems,
  featureGates,
  gateProblems,
  unknownGate,
} from '@gyropilot/manager/feature-gates'
import { suggestion } from '@gyropilot/foundation'
import type { IpFamily } from '@gyropilot/cluster/live'
import { timingProblem } from '@gyropilot/runtime'
import type { ElectionTiming } from '@gyropilot/runtime'
import { gyroErrors } from '../errors.ts'
import { flagsOf } from '../flags.ts'
import { COMPONENTS, MOST_NODES, upFlags } from './up-flags.ts'
import type { Component } from './up-flags.ts'

export interface UpOptions {
  readonly port: number
  /** False: the port is the default, and a data directory may know better. */
  readonly portIsGiven: boolean
  readonly bindAddress: string
  readonly kubeconfig: string
  readonly mergeKubeconfig: boolean
  readonly detach: boolean
  readonly dataDir: string
  readonly nodes: number
  readonly family: IpFamily
  /** False: the family is the default, and a data directory may know better. */
  readonly familyIsGiven: boolean
  readonly components: ReadonlySet<Component>
  readonly managers: number
  /** Of the managers, when there are several. */
  readonly election: ElectionTiming
  readonly controllers: readonly string[]
  /** Name of the cloud provider; empty: there is none. */
  readonly cloud: string
  readonly cloudConfig: string
  /** Versions that the API server serves beyond the default. */
  readonly runtimeConfig: RuntimeConfig
  /** Those that are set, of the API server and the managers. */
  readonly featureGates: ReadonlyMap<string, boolean>
  readonly token: string
  readonly output: 'text' | 'json'
  readonly verbosity: number
  readonly help: boolean
}

/** Whether both ask for the same, however it is written; but for how it is started and what it prints. `first` may be of another version. */
export function isSameCluster(first: readonly string[], second: readonly string[]): boolean {
  try {
    return isDeepStrictEqual(clusterOf(upOptions(first)), clusterOf(upOptions(second)))
  } catch {
    return false
  }
}

function clusterOf(options: UpOptions): Partial<UpOptions> {
  const { detach: _, output: __, help: ___, ...rest } = options
  return rest
}

const MOST_MANAGERS = 9

export function upOptions(args: readonly string[]): UpOptions {
  const { values, given } = flagsOf(upFlags, args, 'gyro up', invalid)
  const options: UpOptions = {
    port: values.get('port') as number,
    portIsGiven: given.has('port'),
    bindAddress: values.get('bind-address') as string,
    kubeconfig: values.get('kubeconfig') as string,
    mergeKubeconfig: values.get('merge-kubeconfig') as boolean,
    detach: values.get('detach') as boolean,
    dataDir: values.get('data-dir') as string,
    nodes: values.get('nodes') as number,
    family: values.get('ip-family') as IpFamily,
    familyIsGiven: given.has('ip-family'),
    components: new Set(values.get('components') as readonly Component[]),
    managers: values.get('managers') as number,
    election: {
      leaseDurationMs: values.get('leader-elect-lease-duration') as number,
      renewDeadlineMs: values.get('leader-elect-renew-deadline') as number,
      retryPeriodMs: values.get('leader-elect-retry-period') as number,
    },
    controllers: values.get('controllers') as readonly string[],
    cloud: values.get('cloud') as string,
    cloudConfig: values.get('cloud-config') as string,
    runtimeConfig: runtimeConfig(values.get('runtime-config') as readonly string[]),
    featureGates: values.get('feature-gates') as ReadonlyMap<string, boolean>,
    token: values.get('token') as string,
    output: values.get('output') as 'text' | 'json',
    verbosity: values.get('v') as number,
    help: values.get('help') as boolean,
  }
  check(options)
  if (!options.components.has('api-server')) checkJoining(options, given)
  return options
}

/** What only a cluster with an API server of its own makes use of. */
const FOR_THE_SERVER = [
  'port',
  'bind-address',
  'data-dir',
  'token',
  'merge-kubeconfig',
  'runtime-config',
]

/** Parts that join a cluster act on it as if they were its own: they are told which one, and take none for granted. */
function checkJoining({ kubeconfig }: UpOptions, given: ReadonlySet<string>): void {
  const unused = FOR_THE_SERVER.find((name) => given.has(name))
  if (unused !== undefined)
    throw invalid(`--${unused} is for the API server: it is not among --components`)
  if (kubeconfig === '')
    throw invalid(
      '--components without api-server joins a cluster that is there: say which with --kubeconfig',
    )
}

function check(options: UpOptions): void {
  inRange('port', options.port, 0, 65_535)
  if (options.bindAddress === '')
    throw invalid('--bind-address is empty: use 0.0.0.0 or :: for all addresses of this machine')
  inRange('nodes', options.nodes, 0, MOST_NODES)
  inRange('managers', options.managers, 1, MOST_MANAGERS)
  const problem = timingProblem(options.election)
  if (problem !== undefined) throw invalid(`--leader-elect-*: ${problem}`)
  for (const component of options.components) {
    if (!COMPONENTS.includes(component)) {
      const meant = suggestion(component, COMPONENTS) || `: use ${COMPONENTS.join(', ')}`
      throw invalid(`--components names ${JSON.stringify(component)}${meant}`)
    }
  }
  checkGates(options.featureGates)
  checkPodGroups(options)
  checkCloud(options)
  if (options.components.size === 0) throw invalid('--components is empty: there is nothing to run')
  checkControllers(options.controllers)
}

function checkControllers(items: readonly string[]): void {
  const [unknown] = unknownNames(items)
  if (unknown === undefined) return
  const names = knownControllers.map(({ name }) => name).toSorted()
  const aliases = knownControllers.flatMap(({ alias }) => alias ?? [])
  const meant =
    suggestion(unknown, [...names, ...aliases]) || ` (${names.slice(0, 3).join(', ')}, ...)`
  throw invalid(`--controllers: ${unknownItems(items)[0]}${meant}`)
}

function checkCloud({ cloud, cloudConfig, family }: UpOptions): void {
  if (cloud === 'loopback' && family === 'ipv6')
    throw invalid('--cloud=loopback has addresses of IPv4 only: use --ip-family dual')
  if (cloud === '' && cloudConfig !== '') throw invalid('--cloud-config needs --cloud')
}

function checkGates(settings: ReadonlyMap<string, boolean>): void {
  const unknown = unknownGate(settings)
  const meant = unknown === undefined ? '' : suggestion(unknown, [...featureGates.keys()])
  const problems = gateProblems(settings)
  // An unknown gate is the last of the problems: those behind it are not looked for.
  const problem = unknown === undefined ? problems[0] : problems.at(-1)
  const told = problem ?? dependencyProblems(settings)[0]
  if (told !== undefined) throw invalid(`--feature-gates: ${told}${meant}`)
}

const POD_GROUPS = 'scheduling.k8s.io/v1alpha2'

/** A scheduler that looks for groups of pods binds none before it has read the groups. */
function checkPodGroups({
  components,
  featureGates: gates,
  runtimeConfig: config,
}: UpOptions): void {
  const isAwaited = components.has('scheduler') && gates.get('GenericWorkload') === true
  if (isAwaited && components.has('api-server') && config[POD_GROUPS] !== true)
    throw invalid(
      `--feature-gates: with GenericWorkload the scheduler waits for PodGroups, which are not served: add --runtime-config ${POD_GROUPS}=true`,
    )
}

function runtimeConfig(items: readonly string[]): RuntimeConfig {
  const config = parseRuntimeConfig(items)
  if (typeof config === 'string') throw invalid(`--runtime-config: ${config}`)
  return config
}

function inRange(name: string, value: number, least: number, most: number): void {
  if (value >= least && value <= most) return
  throw invalid(`--${name}=${value} is out of range: use ${least} to ${most}`)
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('UP_FLAG_INVALID', message, { cause })
}
