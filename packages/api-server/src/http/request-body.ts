/** From the bytes of a request to a JSON value. Contract: docs/behaviour/api-server/requests.md, "Decoding". */
import { bodyTooLarge } from './errors.ts'
import { checkNesting, excerpt } from '@gyropilot/schema/body-refusals'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { sortedJson } from '@gyropilot/schema/sorted-json'
import { parseJson, type ParsedJson } from '@gyropilot/schema/json'
import type { ServerRequest } from './exchange.ts'
import type { InputType } from './negotiation.ts'

export const BODY_LIMIT_BYTES = 3_145_728
const PROTOBUF_PREFIX = [0x6b, 0x38, 0x73, 0x00]

export interface ParsedBody extends ParsedJson {
  /** Problems that the parser itself found: repeated keys of YAML. */
  readonly problems: readonly string[]
  /** For the parenthesis at the end of messages. */
  readonly bytes: Uint8Array
}

const NO_BYTES = new Uint8Array(0)

export function bodySize(request: ServerRequest): number {
  return request.body !== undefined && 'bytes' in request.body ? request.body.bytes.length : 0
}

export function checkBodySize(request: ServerRequest): void {
  if (bodySize(request) > BODY_LIMIT_BYTES) throw bodyTooLarge(BODY_LIMIT_BYTES)
}

export function isEmptyBody(request: ServerRequest): boolean {
  if (request.body === undefined) return true
  return 'bytes' in request.body && request.body.bytes.length === 0
}

/** What is wrong with a body, and its first bytes, as an error. */
export type BodyRefusal = (why: string, shown: string) => Error

/** Throws 400 in the words of the real decoder. */
export async function parseBody(
  request: ServerRequest,
  type: InputType,
  refuse: BodyRefusal,
  decodeProtobuf: (bytes: Uint8Array) => unknown,
): Promise<ParsedBody> {
  const { body } = request
  if (body !== undefined && 'json' in body)
    return { value: body.json, occurrences: undefined, problems: [], bytes: NO_BYTES }
  const bytes = body?.bytes ?? NO_BYTES
  if (type === 'application/vnd.kubernetes.protobuf') {
    if (bytes.length === 0) throw refuse('empty data', excerpt(bytes))
    if (!PROTOBUF_PREFIX.every((byte, index) => bytes[index] === byte)) {
      throw refuse(
        `provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]`,
        excerpt(bytes),
      )
    }
    return {
      value: await decodeProtobuf(bytes),
      occurrences: undefined,
      problems: [],
      bytes,
    }
  }
  if (type === 'application/yaml') return parseYaml(bytes, refuse)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  checkNesting(text)
  try {
    return { ...parseJson(text), problems: [], bytes }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw refuse(
      `couldn't get version/kind; json parse error: ${goJsonError(bytes)}`,
      excerpt(bytes),
    )
  }
}

async function parseYaml(bytes: Uint8Array, refuse: BodyRefusal): Promise<ParsedBody> {
  const { YamlError, readYaml } = await import('@gyropilot/foundation/yaml')
  try {
    const { root, repeatedKeys } = readYaml(bytes)
    const problems = repeatedKeys.map(({ problem }) => problem)
    // Upstream makes JSON of it, where members stand by their names.
    const value = sortedJson(root?.value ?? null)
    return { value, occurrences: undefined, problems, bytes }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw refuse(error.message, excerpt(bytes))
  }
}
