import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import { errorText } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { TransportError } from '../transport.ts'

const VERSION = 5
const NO_AUTHENTICATION = 0
const USERNAME_AND_PASSWORD = 2
const PASSWORD_VERSION = 1
const CONNECT = 1
const IPV4 = 1
const NAME = 3
const IPV6 = 4
const MOST_FIELD_BYTES = 255

const REFUSALS: Readonly<Record<number, string>> = {
  1: 'general SOCKS server failure',
  2: 'connection not allowed by ruleset',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
}

interface Socks5Request {
  readonly clock: Clock
  /** Connected to the proxy. */
  readonly socket: Socket
  /** Of the server; names are resolved by the proxy. IPv6 without brackets. */
  readonly host: string
  readonly port: number
  readonly credentials: { readonly username: string; readonly password: string } | undefined
  readonly timeoutMs: number
  /** For messages. */
  readonly what: string
}

/** Asks a SOCKS5 proxy for a connection (RFC 1928, password by RFC 1929). Destroys the socket and rejects with TransportError. */
export async function openSocks5(request: Socks5Request): Promise<void> {
  const { clock, socket, timeoutMs, what } = request
  const replies = new Replies(socket, what)
  const timer = clock.after(timeoutMs, () =>
    socket.destroy(new TransportError('ETIMEDOUT', `${what}: i/o timeout`)),
  )
  try {
    await negotiate(request, replies)
    socket.write(connectRequest(request))
    const [, reply, , addressType] = await replies.take(4)
    if (reply !== 0) throw refused(what, REFUSALS[reply!] ?? `unknown code ${reply}`)
    // The address that the proxy bound; nobody needs it, but it stands before the server's first byte.
    const nameLength = addressType === NAME ? (await replies.take(1))[0]! : 0
    await replies.take((addressType === IPV4 ? 4 : addressType === IPV6 ? 16 : nameLength) + 2)
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  } finally {
    timer.cancel()
    replies.release()
  }
}

async function negotiate(
  { socket, credentials, what }: Socks5Request,
  replies: Replies,
): Promise<void> {
  const methods =
    credentials === undefined ? [NO_AUTHENTICATION] : [NO_AUTHENTICATION, USERNAME_AND_PASSWORD]
  socket.write(Buffer.from([VERSION, methods.length, ...methods]))
  const [version, method] = await replies.take(2)
  if (version !== VERSION) throw refused(what, `unexpected protocol version ${version}`)
  if (method === NO_AUTHENTICATION) return
  if (method !== USERNAME_AND_PASSWORD || credentials === undefined)
    throw refused(what, 'no acceptable authentication methods')
  const username = field(credentials.username, what)
  const password = field(credentials.password, what)
  socket.write(Buffer.concat([Buffer.from([PASSWORD_VERSION]), username, password]))
  const [, status] = await replies.take(2)
  if (status !== 0) throw refused(what, 'username/password authentication failed')
}

function connectRequest({ host, port, what }: Socks5Request): Buffer {
  const family = isIP(host)
  const address =
    family === 4
      ? Buffer.from([IPV4, ...host.split('.').map(Number)])
      : family === 6
        ? Buffer.from([IPV6, ...ipv6Bytes(host)])
        : Buffer.concat([Buffer.from([NAME]), field(host, what)])
  return Buffer.concat([
    Buffer.from([VERSION, CONNECT, 0]),
    address,
    Buffer.from([port >> 8, port & 255]),
  ])
}

function field(text: string, what: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length === 0 || bytes.length > MOST_FIELD_BYTES)
    throw refused(what, 'a name, user or password is empty or longer than 255 bytes')
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

/** Of an address as `URL` writes it: lower case, at most one `::`, no dotted part. */
function ipv6Bytes(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const groupsOf = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 255])
}

function refused(what: string, why: string): TransportError {
  return new TransportError('PROXY_REFUSED', `${what}: ${why}`)
}

/** Takes exact numbers of bytes from a socket and leaves what follows in it. */
class Replies {
  readonly #socket: Socket
  readonly #what: string
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(socket: Socket, what: string) {
    this.#socket = socket
    this.#what = what
    socket.on('readable', this.#onReadable)
    socket.on('error', this.#onError)
    socket.on('close', this.#onClose)
  }

  async take(count: number): Promise<Buffer> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      const bytes = this.#socket.read(count) as Buffer | null
      if (bytes !== null) {
        if (bytes.length === count) return bytes
        throw new TransportError('EOF', `${this.#what}: closed by the proxy`)
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  release(): void {
    this.#socket.off('readable', this.#onReadable)
    this.#socket.off('error', this.#onError)
    this.#socket.off('close', this.#onClose)
  }

  readonly #onReadable = (): void => this.#wake?.()

  readonly #onError = (error: Error): void => {
    this.#failure ??=
      error instanceof TransportError
        ? error
        : new TransportError('EOF', `${this.#what}: ${errorText(error)}`, { cause: error })
    this.#wake?.()
  }

  readonly #onClose = (): void => {
    this.#failure ??= new TransportError('EOF', `${this.#what}: closed by the proxy`)
    this.#wake?.()
  }
}
