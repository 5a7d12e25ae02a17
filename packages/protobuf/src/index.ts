/** Request bodies in protobuf. The decoder and its tables are loaded with the first body. */
import type { ExpectedMessage } from './envelope.ts'

/** A plain JSON value, as the equal JSON body would be. Rejects with a 400. */
export async function decodeProtobuf(
  bytes: Uint8Array,
  expected: ExpectedMessage,
): Promise<unknown> {
  const { decodeProtobufBody } = await import('./envelope.ts')
  return decodeProtobufBody(bytes, expected)
}
