/**
 * `agnhost`, the program of the image of that name in Kubernetes' tutorials: what it prints. Its servers wait for their end; what
 * they answer is in answers/agnhost-server.ts.
 */
import { durationMs } from '../../behavior/duration.ts'
import { connect } from '../../network-commands/agnhost-connect.ts'
import type { Command, Process, TrapHandler } from '../../shell/process.ts'
import { joinPrimary } from './guestbook-command.ts'
import { discoverIssuer } from './issuer-discovery.ts'
import { mountTest } from './mounttest-command.ts'
import { portForwardTester } from './port-forward-tester.ts'

const AGNHOST = /^\/?agnhost(?:-2)?$/
const SERVERS =
  /^(?:audit-proxy|crd-conversion-webhook|fake-gitserver|grpc-health-checking|guestbook|inclusterclient|liveness|net|netexec|nettest|no-snat-test|no-snat-test-proxy|pause|porter|resource-consumer|resource-consumer-controller|serve-hostname|test-webserver|webhook)$/

export interface AgnhostCall {
  readonly subcommand: string
  readonly flags: ReadonlyMap<string, string>
}

/** Undefined: the words call something else. */
export function agnhostCall([name = '', subcommand = 'help', ...args]: readonly string[]):
  | AgnhostCall
  | undefined {
  if (!AGNHOST.test(name)) return undefined
  const flags = new Map<string, string>()
  for (let at = 0; at < args.length; at++) {
    const [, flag, , value] = /^--?([a-z][\w-]*)(=(.*))?$/s.exec(args[at]!) ?? []
    if (flag === undefined) continue
    const next = args[at + 1]
    if (value !== undefined) flags.set(flag, value)
    else if (next === undefined || next.startsWith('-')) flags.set(flag, 'true')
    else flags.set(flag, args[++at]!)
  }
  return { subcommand, flags }
}

/** Where the program of the image `resource-consumer` listens, which agnhost has, too; undefined: it is another. */
export function consumerPort(words: readonly string[]): number | undefined {
  const [name = '', ...args] = words
  const call = agnhostCall(words)
  if (call?.subcommand === 'resource-consumer') return Number(call.flags.get('port') ?? 8080)
  if (!/^\/?consumer$/.test(name)) return undefined
  const [, port] = /^--?port[= ](\d+)$/.exec(args.join(' ')) ?? []
  return Number(port ?? 8080)
}

/** Whether it is known to listen nowhere. */
export function opensNoPort(words: readonly string[]): boolean {
  return agnhostCall(words)?.subcommand === 'pause'
}

export function isGuestbook(words: readonly string[]): boolean {
  return agnhostCall(words)?.subcommand === 'guestbook'
}

/** Whether it answers HTTP there. `environment`: what its container sets, where that counts. */
export function servesHttp(
  words: readonly string[],
  port: number,
  environment: readonly { readonly name: string }[] = [],
): boolean {
  if (agnhostCall(words)?.subcommand === 'porter')
    return environment.some(({ name }) => portOf(name) === port)
  return httpPort(words) === port
}

/** `SERVE_PORT_80`, which porter serves there, in plain text or within TLS. */
function portOf(variable: string): number {
  return Number(/^SERVE_(?:TCP_|TLS_)?PORT_(\d+)$/.exec(variable)?.[1])
}

function httpPort(words: readonly string[]): number | undefined {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  switch (subcommand) {
    case 'netexec':
      return Number(flags?.get('http-port') ?? 8080)
    case 'guestbook':
      return Number(flags?.get('http-port') ?? 80)
    case 'serve-hostname':
      return Number(flags?.get('port') ?? 9376)
    case 'nettest':
    case 'resource-consumer-controller':
      return Number(flags?.get('port') ?? 8080)
    case 'webhook':
    case 'crd-conversion-webhook':
      return Number(flags?.get('port') ?? 443)
    default:
      return consumerPort(words)
  }
}

interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

/** The image's own, which porter uses unless it is told of others. */
export const IMAGE_TLS_FILES: TlsFiles = { certificate: '/localhost.crt', key: '/localhost.key' }

/** The files of the container that it speaks TLS with at that port; undefined: it speaks in plain text there, or not at all. */
export function tlsFilesOf(
  words: readonly string[],
  port: number,
  environment: ReadonlyMap<string, string>,
): TlsFiles | undefined {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (subcommand === 'porter') {
    if (!environment.has(`SERVE_TLS_PORT_${port}`)) return undefined
    return {
      certificate: environment.get('CERT_FILE') || IMAGE_TLS_FILES.certificate,
      key: environment.get('KEY_FILE') || IMAGE_TLS_FILES.key,
    }
  }
  const certificate = flags?.get('tls-cert-file')
  if (certificate === undefined || !TLS_SERVERS.test(subcommand!)) return undefined
  if (!servesHttp(words, port)) return undefined
  return { certificate, key: flags?.get('tls-private-key-file') ?? '' }
}

const TLS_SERVERS = /^(?:crd-conversion-webhook|netexec|webhook)$/

/** Whether what it prints depends on what it meets at the time, so that it cannot be told later. */
export function meetsWhatChanges(words: readonly string[]): boolean {
  return /^(?:guestbook|mounttest|port-forward-tester)$/.test(agnhostCall(words)?.subcommand ?? '')
}

export const AGNHOST_COMMANDS: ReadonlyMap<string, Command> = new Map(
  ['agnhost', '/agnhost', '/agnhost-2'].map((name) => [name, (task) => run(name, task)]),
)

async function run(name: string, task: Process): Promise<number> {
  const { subcommand, flags } = agnhostCall(['agnhost', ...task.args])!
  if (SERVERS.test(subcommand)) {
    const failed = subcommand === 'guestbook' ? await joinPrimary(task, flags) : undefined
    if (failed !== undefined) return failed
    if (subcommand === 'pause') await task.out('Paused\n')
    const delayMs = Number(flags.get('delay-shutdown') ?? 0) * 1_000
    if (delayMs > 0) task.place.onTrap?.(goingOnFor(delayMs))
    await task.place.sleep(Infinity)
    return 0
  }
  const act = PRINTING[subcommand]
  if (act !== undefined) return act(name, task, flags)
  task.place.onUnknown?.(`agnhost ${subcommand}`)
  await task.err(`agnhost ${subcommand} is not known to simulated containers\n`)
  return 1
}

/** A server that serves for a while yet when it is asked to end. */
function goingOnFor(delayMs: number): TrapHandler {
  return async (sleep) => {
    await sleep(delayMs)
    return 0
  }
}

/** Flags may stand on either side of it, with their values as words of their own. */
function targetOf(args: readonly string[]): string {
  return args.find((arg) => !arg.startsWith('-') && arg.includes(':')) ?? ''
}

type Act = (name: string, task: Process, flags: ReadonlyMap<string, string>) => Promise<number>

const PRINTING: Readonly<Record<string, Act>> = {
  connect: (_, task, flags) => connect(task, targetOf(task.args), flags),
  'dns-server-list': async (_, task) => print(task, await named(task, 'nameserver')),
  'dns-suffix': async (_, task) => print(task, await named(task, 'search')),
  'entrypoint-tester': async (name, task) => print(task, `[${[name, ...task.args].join(' ')}]`),
  'etc-hosts': async (_, task) => {
    await task.out(await task.place.files.read('/etc/hosts'))
    return 0
  },
  'logs-generator': generateLogs,
  mounttest: (_, task, flags) => mountTest(task, flags),
  'port-forward-tester': (_, task) => portForwardTester(task),
  'test-service-account-issuer-discovery': (_, task, flags) => discoverIssuer(task, flags),
}

/** Of /etc/resolv.conf. */
async function named({ place }: Process, word: string): Promise<string> {
  const lines = Buffer.from(await place.files.read('/etc/resolv.conf'))
    .toString()
    .split('\n')
  const values = lines.map((line) => line.split(/\s+/)).filter(([first]) => first === word)
  return values.flatMap(([, ...rest]) => rest).join(',')
}

async function print(task: Process, text: string): Promise<number> {
  await task.out(`${text}\n`)
  return 0
}

const METHODS = ['GET', 'POST', 'PUT']
const NAMESPACES = ['kube-system', 'default', 'ns']

/** Made up, and the same every time. */
async function generateLogs(
  _: string,
  task: Process,
  flags: ReadonlyMap<string, string>,
): Promise<number> {
  const { err, place } = task
  const total = Number(flags.get('log-lines-total') ?? flags.get('t'))
  const totalMs = durationMs(flags.get('run-duration') ?? flags.get('d'), Number.NaN)
  if (!(total > 0) || !(totalMs > 0)) {
    await err('agnhost: logs-generator needs --log-lines-total and --run-duration\n')
    return 255
  }
  for (let line = 0; line < total; line++) {
    const pod = (line * 7919 + 1009).toString(36)
    const path = `/api/v1/namespaces/${NAMESPACES[(line % 5) % 3]}/pods/${pod}`
    const text = `${line} ${METHODS[(line % 7) % 3]} ${path} ${200 + ((line * 37) % 400)}`
    const time = new Date(place.nowMs()).toISOString()
    const stamp = `I${time.slice(5, 7)}${time.slice(8, 10)} ${time.slice(11, 23)}000`
    await err(`${stamp}       1 logs_generator.go:76] ${text}\n`)
    await place.sleep(totalMs / total)
  }
  return 0
}
