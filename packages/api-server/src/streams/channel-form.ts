/**
 * How bytes of several channels travel in WebSocket messages. Contract:
 * docs/behaviour/api-server/subresources-and-admission.md, "exec, attach, port-forward". Binary forms put the channel's number
 * into the first byte; base64 forms write it as a digit before the text of the bytes.
 */
import type { WebSocket } from 'ws'

export interface ChannelForm {
  readonly base64: boolean
  /** Of commands: the newer ones end with a Status, the older ones with the text of a failure. */
  readonly status: 'json' | 'text'
  /** Channel 255: the next byte is the channel that the client closes. */
  readonly closable: boolean
}

/** By subprotocol; '' is a client that names none. */
export const COMMAND_FORMS: ReadonlyMap<string, ChannelForm> = new Map([
  ['v5.channel.k8s.io', { base64: false, status: 'json', closable: true }],
  ['v4.channel.k8s.io', { base64: false, status: 'json', closable: false }],
  ['v4.base64.channel.k8s.io', { base64: true, status: 'json', closable: false }],
  ['channel.k8s.io', { base64: false, status: 'text', closable: false }],
  ['base64.channel.k8s.io', { base64: true, status: 'text', closable: false }],
  ['', { base64: false, status: 'text', closable: false }],
])

export const PORT_FORMS: ReadonlyMap<string, ChannelForm> = new Map([
  ['v4.channel.k8s.io', { base64: false, status: 'json', closable: false }],
  ['v4.base64.channel.k8s.io', { base64: true, status: 'json', closable: false }],
  ['', { base64: false, status: 'json', closable: false }],
])

/** Of answers that are plain bytes: logs. Whether they travel as base64. */
export const BYTES_FORMS: ReadonlyMap<string, { readonly base64: boolean }> = new Map([
  ['', { base64: false }],
  ['binary.k8s.io', { base64: false }],
  ['base64.binary.k8s.io', { base64: true }],
])

/** `preferred` wherever it stands, else the first that is known; undefined: none. Offering nothing is offering ''. */
export function chosenProtocol(
  known: ReadonlyMap<string, unknown>,
  offered: readonly string[],
  preferred: string,
): string | undefined {
  if (offered.includes(preferred)) return preferred
  return (offered.length === 0 ? [''] : offered).find((name) => known.has(name))
}

/** Undefined: not a message of this form. */
export function channelOf(
  message: Buffer,
  { base64 }: ChannelForm,
): { readonly channel: number; readonly bytes: Buffer } | undefined {
  if (message.length === 0) return undefined
  if (!base64) return { channel: message[0]!, bytes: message.subarray(1) }
  const channel = message[0]! - 0x30
  if (channel < 0 || channel > 9) return undefined
  return { channel, bytes: Buffer.from(message.subarray(1).toString('latin1'), 'base64') }
}

export function sendChannel(
  socket: WebSocket,
  form: ChannelForm,
  channel: number,
  bytes: Uint8Array,
): Promise<void> {
  if (!form.base64) return sendBytes(socket, Buffer.concat([Buffer.from([channel]), bytes]))
  return sendBytes(socket, `${channel}${Buffer.from(bytes).toString('base64')}`)
}

/**
 * Resolves when the message has gone out, never before: messages that wait together leave in one TLS record, and clients
 * that ask the socket whether it is readable (Python's) do not see what TLS has already unpacked behind the first of them.
 */
export function sendBytes(socket: WebSocket, message: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    if (socket.readyState !== socket.OPEN) return resolve()
    socket.send(message, { binary: typeof message !== 'string' }, () => resolve())
  })
}
