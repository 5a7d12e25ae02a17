/** What the servers of the program `agnhost` answer, as far as it concerns one pod alone. */
import { agnhostCall } from '../commands/image-programs/agnhost-command.ts'
import type { AgnhostCall } from '../commands/image-programs/agnhost-command.ts'
import { PLAIN_TEXT } from './port-answers.ts'
import type { Page, Request } from './port-answers.ts'

/** The run that is asked. */
interface AskedRun {
  readonly hostname: string
  readonly ranForMs: number
  /** It was asked to end, and goes on. */
  readonly isEnding: boolean
  readonly nowMs: number
  readonly environment: ReadonlyMap<string, string>
}

/** Undefined: nothing is known of what it answers. */
export function agnhostPage(
  words: readonly string[],
  run: AskedRun,
  request: Request,
): Page | undefined {
  const call = agnhostCall(words)
  return call && SERVERS[call.subcommand]?.(call, run, request)
}

/** Whether what it answers there changes while it runs. */
export function agnhostMayFail(words: readonly string[]): boolean {
  return /^(?:liveness|netexec)$/.test(agnhostCall(words)?.subcommand ?? '')
}

/** Whether it says in its log what it was asked. */
export function logsRequests(words: readonly string[]): boolean {
  return agnhostCall(words)?.subcommand === 'netexec'
}

/** `2026/01/02 03:04:05 GET /echo?msg=hello`, as programs in Go write it. */
export function requestLine({ method, path }: Request, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replace('T', ' ').replaceAll('-', '/')
  return `${time} ${method} ${path}\n`
}

export interface AskedDatagram {
  readonly port: number
  readonly protocol: 'UDP' | 'SCTP'
  readonly bytes: Uint8Array
  /** Who asks, with its port. */
  readonly from?: string | undefined
}

/** What netexec, porter, and serve-hostname with --udp, answer a datagram; undefined: nothing. */
export function agnhostDatagram(
  words: readonly string[],
  { hostname, environment }: Pick<AskedRun, 'hostname' | 'environment'>,
  { port, protocol, bytes, from }: AskedDatagram,
): string | undefined {
  const { subcommand, flags } = agnhostCall(words) ?? {}
  if (subcommand === 'porter') return environment.get(`SERVE_${protocol}_PORT_${port}`)
  if (protocol !== 'UDP') return undefined
  if (subcommand === 'serve-hostname' && flags?.get('udp') === 'true')
    return port === Number(flags.get('port') ?? 9376) ? hostname : undefined
  if (subcommand !== 'netexec' || port !== Number(flags?.get('udp-port') ?? 8081)) return undefined
  const text = Buffer.from(bytes).toString()
  const [command = '', ...rest] = text.trim().split(' ')
  switch (command.toLowerCase()) {
    case 'hostname':
      return hostname
    case 'echo':
      return rest.join(' ')
    case 'clientip':
      return from
    default:
      return undefined
  }
}

type Server = (call: AgnhostCall, run: AskedRun, request: Request) => Page | undefined

const SERVERS: Readonly<Record<string, Server>> = {
  liveness(_, { ranForMs }, { port, path }) {
    if (port !== 8080) return undefined
    const { pathname, searchParams } = urlOf(path)
    if (pathname === '/started') return page(200, `${ranForMs / 1000}s`)
    if (pathname === '/redirect') return redirect(302, searchParams.get('loc') ?? '')
    if (pathname !== '/healthz') return page(404, '404 page not found\n')
    return ranForMs > ALIVE_MS ? page(500, `error: ${ranForMs / 1000}`) : page(200, 'ok')
  },
  netexec({ flags }, { hostname, isEnding, nowMs }, { port, path, from }) {
    if (port !== Number(flags.get('http-port') ?? 8080)) return undefined
    const { pathname, searchParams } = urlOf(path)
    const code = Number(searchParams.get('code') ?? 0)
    if (pathname === '/') return page(200, `NOW: ${new Date(nowMs).toISOString()}`)
    if (/^\/host[nN]ame$/.test(pathname)) return page(200, hostname)
    if (pathname === '/clientip') return from === undefined ? undefined : page(200, from)
    if (pathname === '/healthz') return page(200, '')
    if (pathname === '/readyz') return page(isEnding ? 500 : 200, '')
    if (pathname === '/serverport') return page(200, String(port))
    if (pathname === '/echo') return page(code || 200, searchParams.get('msg') ?? '')
    if (pathname === '/redirect') return redirect(code || 302, searchParams.get('location') ?? '')
    return undefined
  },
  porter({ flags }, { environment }, { port, method }) {
    const value = ['', 'TCP_', 'TLS_']
      .map((kind) => environment.get(`SERVE_${kind}PORT_${port}`))
      .find((each) => each !== undefined)
    if (value === undefined) return undefined
    if (flags.get('json-response') !== 'true') return page(200, value)
    const body = Buffer.from(JSON.stringify({ Method: method, Body: value }))
    return { status: 200, type: 'application/json', body }
  },
  'serve-hostname': ({ flags }, { hostname }, { port }) =>
    port === Number(flags.get('port') ?? 9376) ? page(200, hostname) : undefined,
}

const ALIVE_MS = 10_000

function page(status: number, text: string): Page {
  return { status, type: sniffedType(text), body: Buffer.from(text) }
}

/** Servers in Go that do not say what they answer have it looked at: HTML begins with one of its tags, after blanks. */
function sniffedType(text: string): string {
  const isHtml =
    /^\s*(?:<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >]|<!--)/i
  return isHtml.test(text) ? 'text/html; charset=utf-8' : PLAIN_TEXT
}

function redirect(status: number, location: string): Page {
  return { ...page(status, ''), location }
}

function urlOf(path: string): URL {
  return new URL(path.replace(/^\/*/, '/'), 'http://pod')
}
