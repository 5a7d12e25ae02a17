/** Numbers of HTTP/2: RFC 9113. */

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
export const FRAME_HEADER_BYTES = 9
/** Of a payload, where no SETTINGS say otherwise; and what this client takes. */
export const DEFAULT_FRAME_BYTES = 16_384
export const DEFAULT_WINDOW_BYTES = 65_535
export const LARGEST_WINDOW_BYTES = 2 ** 31 - 1
export const LARGEST_STREAM_ID = 2 ** 31 - 1

export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const FLAG = {
  endStream: 0x1,
  ack: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

export const ERROR_CODE = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const

export type ErrorCodeName = keyof typeof ERROR_CODE

const NAMES = Object.keys(ERROR_CODE)

/** `CANCEL` for 8; the number for one that RFC 9113 does not know. */
export function errorCodeName(code: number): string {
  return NAMES[code] ?? String(code)
}

/** The peer broke the rules for the whole connection, which ends with a GOAWAY of this code. */
export class Http2ProtocolError extends Error {
  readonly code: ErrorCodeName

  constructor(code: ErrorCodeName, message: string) {
    super(`${message} (${code})`)
    this.name = 'Http2ProtocolError'
    this.code = code
  }
}
