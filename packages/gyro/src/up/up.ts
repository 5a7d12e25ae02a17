/** `gyro up`: a cluster that runs until Ctrl-C. */
import { constants, hostname, networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { hostAndPort } from '@gyropilot/api'
import { createClusterCertificates, createMemoryStore, kubeconfigText } from '@gyropilot/api-server'
import type { ClusterCertificates, Listener, Store } from '@gyropilot/api-server'
import { Cluster, nodeIpam, serviceRanges } from '@gyropilot/cluster/live'
import type { ClusterOptions } from '@gyropilot/cluster/live'
import {
  PrometheusRegistry,
  SystemClock,
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
import { isDetached, placeOf } from './place.ts'
import { publishClusterInfo } from './cluster-info.ts'
import { outside } from './outside.ts'
import { helpText } from './help.ts'
import { familyOf } from './ip-family.ts'
import type { ManagerProcesses } from './manager-processes.ts'
import { narration } from './narration.ts'
import { keptPort, portsToTry, rememberPort } from './files/port-file.ts'
import { writeKubeconfig } from './files/written-kubeconfig.ts'
import { Registration } from './registration.ts'
import { serverNames } from './server-names.ts'
import { partsText, startParts } from './start-parts.ts'
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
      serverNames: serverNames(bindAddress, {
        hostname: hostname(),
        interfaces: networkInterfaces(),
      }),
    })
  } catch (error) {
    if (files === undefined) throw error
    const text = `cannot use the certificates of ${resolve(dataDir)}: ${fileProblem(error)}: put them back from a copy, or choose another --data-dir`
    throw gyroErrors.make('DATA_DIRECTORY_UNUSABLE', text, { cause: error })
  }
}

async function runCluster(
  asked: UpOptions,
  world: World,
  registration: Registration,
): Promise<Started> {
  const { clock, random, logger, terminal } = world
  const store = await openStore(asked, clock)
  const options = { ...asked, family: familyOf(asked, store) }
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
    configuration: { nodeIpam: nodeIpam(options.family) },
    ...serverSettings(options),
  })
  const place = resolve(placeOf(options))
  const ports = portsToTry({ ...options, kept: keptPort(place) })
  const listener = await listen(options.bindAddress, ports, cluster, certificates.serving)
  const moved = listener.port !== ports[0] && ports[0] !== 0
  const isKept = (options.dataDir !== '' || moved) && rememberPort(place, listener.port)
  await cluster.start()
  const host = LOOPBACK_OF.get(options.bindAddress) ?? options.bindAddress
  const server = `https://${hostAndPort(host, listener.port)}`
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
  const facts = await registration.ready(
    {
      ...bannerFacts(options, managers),
      server,
      kubeconfig,
      notes: [...portNote, ...(note === undefined ? [] : [note])],
    },
    managers?.keyFiles,
  )
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
  family,
}: UpOptions): Pick<
  ClusterOptions,
  'runtimeConfig' | 'featureGates' | 'serverOptions' | 'administratorToken'
> {
  return {
    runtimeConfig,
    featureGates: Object.fromEntries(featureGates),
    // As kubeadm starts it: what holds a node's credentials writes about that node alone.
    serverOptions: {
      admissionSelection: { enabled: ['NodeRestriction'] },
      hostname: hostname(),
      serviceRanges: serviceRanges(family),
      ...(family === 'ipv6' ? { advertiseAddress: '::1' } : {}),
    },
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
