/** Bodies of requests and answers in protobuf. Their tables are loaded with the first body. */
import type * as answers from './answers.ts'
import type { EnvelopeRefusal, ExpectedMessage } from './envelope.ts'

export type { AnsweredObject } from './answers.ts'

/** A plain JSON value, as the equal JSON body would be. Rejects with a 400, of a broken envelope with what `refuse` makes of it. */
export async function decodeProtobuf(
  bytes: Uint8Array,
  expected: ExpectedMessage,
  refuse?: EnvelopeRefusal,
): Promise<unknown> {
  const { decodeProtobufBody } = await import('./envelope.ts')
  return decodeProtobufBody(bytes, expected, refuse)
}

/** What turns answers into bytes. */
export type ProtobufAnswers = Pick<
  typeof answers,
  'encodeAnswer' | 'encodeEventFrame' | 'hasMessage'
>

export async function protobufAnswers(): Promise<ProtobufAnswers> {
  return import('./answers.ts')
}
