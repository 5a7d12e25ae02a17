/** `gyro up`: a cluster that runs until Ctrl-C. */
import { constants, hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { createClusterCertificates, createMemoryStore, kubeconfigText } from '@gyropilot/api-server'
import type { ClusterCertificates, Listener, Store } from '@gyropilot/api-server'
import { CLUSTER_CIDR, Cluster, givesPodRanges, simulatedNodes } from '@gyropilot/cluster/live'
import type { ClusterOptions, Parts, RunningPart } from '@gyropilot/cluster/live'
import {
  PrometheusRegistry,
  SystemClock,
  SystemHost,
  SystemRandom,
  errorText,
  exposeEventLoopMetrics,
  exposeProcessMetrics,
  fileProblem,
  klogLogger,
  makeDirectory,
  settle,
  silentLogger,
} from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { directoryFiles } from './files/certificate-files.ts'
import { replacePrivateFile } from './files/private-file.ts'
import { cloudProviders } from './cloud/providers.ts'
import { isDetached, placeOf } from './place.ts'
import { publishClusterInfo } from './cluster-info.ts'
import { outside } from './outside.ts'
import { helpText } from './help.ts'
import {
  isReplaceable,
  kubeconfigPlace,
  ownedText,
  runningOwnerOf,
} from './files/kubeconfig-file.ts'
import type { KubeconfigPlace } from './files/kubeconfig-file.ts'
import { startManagers } from './manager-processes.ts'
import type { ManagerProcesses, ManagerProcessesOptions } from './manager-processes.ts'
import { narration } from './narration.ts'
import { takesFirstTaints, takingPods } from './nodes.ts'
import { keptPort, portsToTry, rememberPort } from './files/port-file.ts'
import { Registration } from './registration.ts'
import { isColored, jsonTerminal, textTerminal, untilStopping } from './terminal.ts'
import type { BannerFacts, Terminal } from './terminal.ts'
import { upOptions } from './up-options.ts'
import type { UpOptions } from './up-options.ts'
import type { World } from './world.ts'

/** Of the addresses that stand for all of a machine. */
const LOOPBACK_OF: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])
/** How long what is open may go on when the cluster ends. */
const STOP_GRACE_MS = 1_000

export async function up(args: readonly string[]): Promise<void> {
  const options = upOptions(args)
  if (options.help) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  const clock = new SystemClock()
  const world: World = {
    clock,
    random: new SystemRandom(),
    // What a newcomer should see is told by the terminal; logs are for -v.
    logger:
      options.verbosity === 0
        ? silentLogger
        : klogLogger({
            clock,
            verbosity: options.verbosity,
            processId: process.pid,
            write: (line) => process.stderr.write(line),
          }),
    terminal: terminalFor(options, clock),
  }
  if (options.detach && !isDetached()) {
    const { startDetached } = await import('./detach.ts')
    return startDetached(args, options, world)
  }
  const asked = firstSignal()
  const registration = new Registration({ args, options, clock })
  await registration.forgetThoseLeft()
  const run = options.components.has('api-server') ? runCluster : runJoined
  const started = await Promise.race([run(options, world, registration), asked])
  if (typeof started === 'object') await asked
  world.terminal.stopping()
  await registration.end()
  if (typeof started !== 'object') process.exit(128 + constants.signals[started])
  await started.stop()
  process.exit(0)
}

/** What has started, without its registration. */
interface Started {
  stop(): Promise<void>
}

async function runJoined(
  options: UpOptions,
  world: World,
  registration: Registration,
): Promise<Started> {
  const { join: joinCluster } = await import('./join.ts')
  const { parts, server, kubeconfig, close } = await joinCluster(options, world)
  const managers = await startParts(options, world, parts, kubeconfig)
  const facts = { ...bannerFacts(options, managers), server, kubeconfig }
  world.terminal.banner(await registration.ready(facts))
  return {
    async stop() {
      await managers?.stop()
      await close()
    },
  }
}

function terminalFor(options: UpOptions, clock: Clock): Terminal {
  const common = {
    write: (text: string) => void process.stdout.write(text),
    color: isColored(process.stdout, process.env),
    nowMs: () => clock.nowMs(),
  }
  return untilStopping(options.output === 'json' ? jsonTerminal(common) : textTerminal(common))
}

async function openStore({ dataDir }: UpOptions, clock: Clock): Promise<Store> {
  if (dataDir === '') return createMemoryStore(clock)
  const { DataDirectoryError, openSqliteStore } = await import('@gyropilot/api-server/sqlite-store')
  try {
    makeDirectory(resolve(dataDir))
    return openSqliteStore({ clock, directory: resolve(dataDir), processId: process.pid })
  } catch (error) {
    const text =
      error instanceof DataDirectoryError
        ? error.message
        : `cannot use the data directory: ${fileProblem(error)}: choose another --data-dir`
    throw gyroErrors.make('DATA_DIRECTORY_UNUSABLE', text, { cause: error })
  }
}

function certificatesOf({ dataDir, bindAddress }: UpOptions, world: World): ClusterCertificates {
  const { clock, random } = world
  const files = dataDir === '' ? undefined : directoryFiles(resolve(dataDir))
  try {
    return createClusterCertificates({
      clock,
      random,
      ...(files === undefined ? {} : { files }),
      serverNames: [bindAddress],
    })
  } catch (error) {
    if (files === undefined) throw error
    const text = `cannot use the certificates of ${resolve(dataDir)}: ${fileProblem(error)}: put them back from a copy, or choose another --data-dir`
    throw gyroErrors.make('DATA_DIRECTORY_UNUSABLE', text, { cause: error })
  }
}

async function runCluster(
  options: UpOptions,
  world: World,
  registration: Registration,
): Promise<Started> {
  const { clock, random, logger, terminal } = world
  const store = await openStore(options, clock)
  const certificates = certificatesOf(options, world)
  const metrics = new PrometheusRegistry()
  exposeProcessMetrics(metrics)
  exposeEventLoopMetrics(metrics)
  const cluster = new Cluster({
    clock,
    random,
    logger,
    metrics,
    store,
    certificates,
    ...outside,
    nextTurn: settle,
    ...serverSettings(options),
  })
  const place = resolve(placeOf(options))
  const ports = portsToTry({ ...options, kept: keptPort(place) })
  const listener = await listen(options.bindAddress, ports, cluster, certificates.serving)
  const moved = listener.port !== ports[0] && ports[0] !== 0
  const isKept = (options.dataDir !== '' || moved) && rememberPort(place, listener.port)
  await cluster.start()
  const host = LOOPBACK_OF.get(options.bindAddress) ?? options.bindAddress
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${listener.port}`
  const text = kubeconfigText({
    server,
    authorityPem: certificates.authority.certificatePem,
    client: certificates.admin,
    token: cluster.administratorToken,
  })
  const { path: kubeconfig, note } = writeKubeconfig(options, text, listener.port)
  const { certificatePem: authorityPem } = certificates.authority
  const [managers] = await Promise.all([
    startParts(options, world, cluster, kubeconfig, certificates),
    publishClusterInfo(cluster.client(), clock, { server, authorityPem }),
  ])
  const portNote = moved
    ? [
        `port ${ports[0]} is in use: this folder has port ${listener.port}${isKept ? ', and keeps it' : ''}`,
      ]
    : []
  const narrate = await narration(cluster, clock)
  const facts = await registration.ready({
    ...bannerFacts(options, managers),
    server,
    kubeconfig,
    notes: [...portNote, ...(note === undefined ? [] : [note])],
  })
  terminal.banner(facts)
  narrate(terminal)
  return {
    async stop() {
      await managers?.stop()
      await cluster.stop(STOP_GRACE_MS)
      store.close()
    },
  }
}

function serverSettings({
  runtimeConfig,
  featureGates,
  token,
}: UpOptions): Pick<
  ClusterOptions,
  'runtimeConfig' | 'featureGates' | 'serverOptions' | 'administratorToken'
> {
  return {
    runtimeConfig,
    featureGates: Object.fromEntries(featureGates),
    // As kubeadm starts it: what holds a node's credentials writes about that node alone.
    serverOptions: { admissionSelection: { enabled: ['NodeRestriction'] }, hostname: hostname() },
    ...(token === '' ? {} : { administratorToken: token }),
  }
}

function bannerFacts(
  options: UpOptions,
  managers: ManagerProcesses | undefined,
): Omit<BannerFacts, 'server' | 'kubeconfig'> {
  return {
    readyMs: performance.now(),
    parts: partsText(options),
    dataDir: options.components.has('api-server') ? options.dataDir : undefined,
    managerPids: managers?.pids ?? [],
    notes: [],
  }
}

/** The first of the ports that is free. */
async function listen(
  host: string,
  ports: readonly number[],
  cluster: Cluster,
  serving: { readonly certificatePem: string; readonly privateKeyPem: string },
): Promise<Listener> {
  for (const port of ports) {
    try {
      return await cluster.server.listen({
        host,
        port,
        certificatePem: serving.certificatePem,
        keyPem: serving.privateKeyPem,
      })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      const text = `cannot listen on ${host}:${port}: ${errorText(error)}: choose another --bind-address or --port`
      throw gyroErrors.make('LISTEN_FAILED', text)
    }
  }
  throw gyroErrors.make(
    'PORT_IN_USE',
    `port ${ports[0]} of ${host} is in use: choose another --port, or --port 0 for any free one`,
  )
}

function writeKubeconfig(options: UpOptions, text: string, port: number): KubeconfigPlace {
  const path = resolve(options.kubeconfig || join(placeOf(options), 'kubeconfig'))
  const asked = options.kubeconfig !== ''
  const place = kubeconfigPlace({ path, asked, port }, runningOwnerOf)
  if (!isReplaceable(place.path))
    throw gyroErrors.make(
      'KUBECONFIG_NOT_WRITTEN',
      `${place.path} is not of gyro up, and would be lost: choose another file with --kubeconfig; --merge-kubeconfig adds this cluster to ~/.kube/config`,
    )
  write(place.path, ownedText(text, process.pid))
  return place
}

/** The kubeconfig, or what stands beside it. */
function write(path: string, text: string): void {
  try {
    replacePrivateFile(path, text)
  } catch (error) {
    throw gyroErrors.make(
      'KUBECONFIG_NOT_WRITTEN',
      `cannot write the kubeconfig: ${fileProblem(error)}: choose another file with --kubeconfig`,
      { cause: error },
    )
  }
}

/** For managers in processes of their own, beside the kubeconfig and as private. */
function writeManagerKeys(
  kubeconfig: string,
  { serviceAccountKey, authority }: ClusterCertificates,
): Pick<ManagerProcessesOptions, 'serviceAccountKeyFile' | 'signingAuthorityFiles'> {
  const serviceAccountKeyFile = `${kubeconfig}.sa.key`
  const certFile = `${kubeconfig}.ca.crt`
  const keyFile = `${kubeconfig}.ca.key`
  write(serviceAccountKeyFile, serviceAccountKey.privateKeyPem)
  write(certFile, authority.certificatePem)
  write(keyFile, authority.privateKeyPem)
  return { serviceAccountKeyFile, signingAuthorityFiles: { certFile, keyFile } }
}

/** Starts what was asked for; resolves when all of it does its work. */
async function startParts(
  options: UpOptions,
  world: World,
  parts: Pick<
    Parts,
    | 'client'
    | 'kubeletOf'
    | 'startControllerManager'
    | 'startCloudControllerManager'
    | 'startScheduler'
    | 'startNodes'
    | 'startStorage'
  >,
  kubeconfig: string,
  certificates?: ClusterCertificates,
): Promise<ManagerProcesses | undefined> {
  const { components, controllers, election, featureGates, managers, nodes, verbosity } = options
  const ready: Promise<void>[] = []
  let processes: ManagerProcesses | undefined
  if (components.has('controller-manager') && managers === 1) {
    ready.push(parts.startControllerManager(controllers).ready)
  } else if (components.has('controller-manager')) {
    const { terminal } = world
    processes = startManagers({
      count: managers,
      election,
      kubeconfig,
      ...(certificates !== undefined && writeManagerKeys(kubeconfig, certificates)),
      controllers,
      featureGates,
      verbosity,
      terminal,
    })
  }
  if (components.has('scheduler')) ready.push(parts.startScheduler().ready)
  if (components.has('storage')) ready.push(parts.startStorage().ready)
  const hasCloud = options.cloud !== ''
  if (hasCloud) ready.push((await startCloud(options, world, parts)).ready)
  if (components.has('nodes')) {
    const withPodRanges = !components.has('controller-manager') || !givesPodRanges(controllers)
    ready.push(parts.startNodes(simulatedNodes(nodes, { withPodRanges, hasCloud })).ready)
  }
  await Promise.all(ready)
  const areFreed = components.has('controller-manager') && takesFirstTaints(controllers)
  if (components.has('nodes') && managers === 1 && areFreed)
    await takingPods(parts.client(), world.clock)
  return processes
}

/** The loops of the cloud: in this process, however many other managers there are. */
async function startCloud(
  { cloud, cloudConfig }: UpOptions,
  { clock, random, logger }: World,
  parts: Pick<Parts, 'client' | 'kubeletOf' | 'startCloudControllerManager'>,
): Promise<RunningPart> {
  const provider = await cloudProviders(parts).create(cloud, {
    config: cloudConfig === '' ? undefined : await cloudConfigText(cloudConfig),
    clock,
    random: random.fork(`cloud-provider/${cloud}`),
    logger: logger.named('cloud-provider'),
  })
  return parts.startCloudControllerManager(provider, { clusterCidr: CLUSTER_CIDR })
}

async function cloudConfigText(path: string): Promise<string> {
  try {
    return await new SystemHost().readTextFile(path)
  } catch (error) {
    const message = `cannot read --cloud-config: ${fileProblem(error)}`
    throw gyroErrors.make('UP_FLAG_INVALID', message, { cause: error })
  }
}

function partsText({ components, managers, nodes, cloud }: UpOptions): readonly string[] {
  const extra = cloud === '' ? [] : [`cloud-controller-manager (${cloud})`]
  return [...partTexts({ components, managers, nodes }), ...extra]
}

function partTexts({
  components,
  managers,
  nodes,
}: Pick<UpOptions, 'components' | 'managers' | 'nodes'>): readonly string[] {
  return [...components].map((component) => {
    if (component === 'nodes') return `${nodes} simulated ${nodes === 1 ? 'node' : 'nodes'}`
    if (component === 'storage') return 'storage driver'
    return component === 'controller-manager' && managers > 1
      ? `${managers} controller-managers`
      : component
  })
}

/**
 * The first signal ends the cluster in order, a second one at once. Listened for from the start on: what is there by then has left
 * traces. SIGHUP: its terminal was closed; --detach is for who wants it to stay.
 */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    let isAsked = false
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(name, () => {
        if (isAsked) process.exit(1)
        isAsked = true
        done(name)
      })
    }
  })
}
