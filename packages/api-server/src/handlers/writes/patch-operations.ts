/** The operations of a JSON patch as they are read from a body. Contract: docs/behaviour/api-server/patch-and-apply.md, "JSON patch". */
import { JsonPatchError, type JsonPatchOperation } from '@gyropilot/api'
import { goQuote } from '@gyropilot/schema/go-quote'
import { duplicateFields } from '@gyropilot/schema/duplicate-fields'
import { oversizedNumber, type DocumentNotes, type Occurrences } from '@gyropilot/schema/json'
import type { Draft } from '@gyropilot/schema/objects'
import { ApiError } from '../../contracts.ts'
import { badRequest, bodyTooLarge } from '../../http/errors.ts'
import type { Decoding } from '../bodies/decoding.ts'

const MOST_OPERATIONS = 10_000
const MEMBERS = new Set(['op', 'path', 'from', 'value'])

/** The operations of a body that is a JSON value. Throws ApiError, and JsonPatchError where fields are not judged. */
export function operationsOf(
  patch: unknown,
  occurrences: Occurrences | undefined,
  validation: Decoding['validation'],
  problems: string[],
): readonly JsonPatchOperation[] {
  // Where fields are not judged, operations are read by what applies them: in other words, and the types of their members later.
  const isJudged = validation !== 'Ignore'
  const undecodable = isJudged ? undecodableOperations : undecodablePatch
  if (patch === null) return []
  if (!Array.isArray(patch))
    throw undecodable(patch, isJudged ? 'value of type []handlers.jsonPatchOp' : 'Patch')
  if (patch.length > MOST_OPERATIONS) {
    const message = `Request entity too large: The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`
    throw new ApiError(413, bodyTooLarge(0).reason, message)
  }
  return patch.map((operation: unknown, index) => {
    // A null is an operation without members: it is refused when it is applied.
    if (operation === null) return {} as JsonPatchOperation
    if (typeof operation !== 'object' || Array.isArray(operation))
      throw undecodable(operation, isJudged ? 'value of type handlers.jsonPatchOp' : 'Operation')
    for (const [member, value] of Object.entries(operation)) {
      if (!MEMBERS.has(member) || member === 'value') continue
      if (typeof value === 'string' || value === null) continue
      if (isJudged) throw undecodable(value, `struct field jsonPatchOp.${member} of type string`)
      throw new JsonPatchError(index, `${member} is no text`)
    }
    problems.push(...operationProblems(operation as Draft, occurrences, `[${index}]`))
    return operation as JsonPatchOperation
  })
}

/** Members that no operation has, and members that stand there twice, in document order. */
function operationProblems(
  operation: Draft,
  occurrences: Occurrences | undefined,
  path: string,
): ReadonlySet<string> {
  const problems = new Set<string>()
  const seen = new Set<string>()
  for (const [member, value] of occurrences?.get(operation) ?? Object.entries(operation)) {
    const at = `${path}.${member}`
    if (!MEMBERS.has(member)) problems.add(`json patch unknown field ${goQuote(at)}`)
    else if (seen.has(member)) problems.add(`json patch duplicate field ${goQuote(at)}`)
    seen.add(member)
    if (member !== 'value') continue
    for (const problem of duplicateFields(value, occurrences, at))
      problems.add(`json patch ${problem}`)
  }
  return problems
}

/** `into` goes on after "Go". */
function undecodableOperations(value: unknown, into: string): ApiError {
  return badRequest(
    `error decoding patch: json: cannot unmarshal ${jsonKind(value)} into Go ${into}`,
  )
}

function undecodablePatch(value: unknown, type: string): ApiError {
  return badRequest(
    `json: cannot unmarshal ${jsonKind(value)} into Go value of type jsonpatch.${type}`,
  )
}

function jsonKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  // Integers that are too long for a number, and numbers that are written as none is printed.
  return typeof value === 'bigint' || typeof value === 'symbol' ? 'number' : typeof value
}

/** The first number that no double holds, as it was written: of an operation only what it sets is read as more than a text. */
export function oversizedValue(operations: unknown, notes: DocumentNotes): string | undefined {
  if (!Array.isArray(operations)) return undefined
  for (const operation of operations as readonly unknown[]) {
    const { value } = (operation ?? {}) as Draft
    const found =
      value === Infinity || value === -Infinity
        ? notes.spellings?.get(operation as object)?.get('value')
        : oversizedNumber(value, notes)
    if (found !== undefined) return found
  }
  return undefined
}
