/** Which kind a webhook's answer is of, before anything of it is read. */
import type { Stored } from '../../registry/kind-rules.ts'
import { GO_TYPE_META } from '@gyropilot/api'
import { DecodeError, jsonKind } from '@gyropilot/schema/decode-scalars'
import { goJsonError } from '@gyropilot/schema/go-json-error'

/** An answer that is no review. */
export class UndecodableResponse extends DecodeError {}

const SCHEME = 'pkg/util/webhook/client.go:71'
const VERSIONS = ['v1', 'v1beta1']

/** The answer as a review; what says neither kind nor version is taken for one. Throws UndecodableResponse. */
export function decodedReview(
  answer: unknown,
  group: string,
  version: string,
  kind: string,
): Stored {
  if (answer === null) return {}
  if (typeof answer !== 'object' || Array.isArray(answer)) throw unreadable(valueProblem(answer))
  const review = answer as Stored
  for (const field of ['kind', 'apiVersion'] as const) {
    const value: unknown = review[field] ?? ''
    if (typeof value !== 'string')
      throw unreadable(
        `json: cannot unmarshal ${jsonKind(value, false)} into Go struct field .${field} of type string`,
      )
  }
  const wanted = `${group}/${version}`
  const given: string = review['apiVersion'] || wanted
  if (given.split('/').length > 2)
    throw new UndecodableResponse(`unexpected GroupVersion string: ${given}`)
  const givenKind: string = review['kind'] || kind
  if (given === wanted && givenKind === kind) return review
  const other = VERSIONS.find((known) => given === `${group}/${known}`)
  if (givenKind === kind && other !== undefined)
    throw new UndecodableResponse(unknownConversion(`${other}.${kind}`, `${version}.${kind}`))
  if (givenKind === 'Status')
    throw new UndecodableResponse(unknownConversion('v1.Status', `${version}.${kind}`))
  throw new UndecodableResponse(
    `no kind ${JSON.stringify(givenKind)} is registered for version ${JSON.stringify(given)} in scheme ${JSON.stringify(SCHEME)}`,
  )
}

function unknownConversion(from: string, to: string): string {
  return `converting (${from}) to (${to}): unknown conversion`
}

function unreadable(problem: string): UndecodableResponse {
  return new UndecodableResponse(`couldn't get version/kind; json parse error: ${problem}`)
}

/** Text that starts as an object does is JSON that is broken; other text is one value. */
function valueProblem(answer: unknown): string {
  if (typeof answer === 'string' && answer.trimStart().startsWith('{')) return goJsonError(answer)
  return `json: cannot unmarshal ${jsonKind(answer, false)} into Go value of type ${GO_TYPE_META}`
}
