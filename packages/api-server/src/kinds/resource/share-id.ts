/** The id of a share of a device: a UUID, and only as it is usually written. Contract: docs/behaviour/api-server/defaulting-and-validation.md. */
import type { FieldErrors } from '@gyropilot/schema/field-errors'

const NORMAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const HYPHENATED = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const BARE = /^[0-9a-f]{32}$/i
const URN = 'urn:uuid:'

export function validateShareId(id: string, errors: FieldErrors, field: string): void {
  const problem = uuidProblem(id)
  if (problem !== undefined) errors.invalid(field, id, `error validating uid: ${problem}`)
  else if (!NORMAL.test(id))
    errors.invalid(
      field,
      id,
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters',
    )
}

/** Why it is none of the four forms that are read: with hyphens, without, in braces, as a URN. */
function uuidProblem(id: string): string | undefined {
  const bytes = Buffer.byteLength(id)
  if (bytes === 32) return BARE.test(id) ? undefined : 'invalid UUID format'
  let text = id
  if (bytes === 36 + URN.length) {
    const prefix = id.slice(0, URN.length)
    if (prefix.toLowerCase() !== URN) return `invalid urn prefix: ${JSON.stringify(prefix)}`
    text = id.slice(URN.length)
  } else if (bytes === 38) text = id.slice(1, -1)
  else if (bytes !== 36) return `invalid UUID length: ${bytes}`
  return HYPHENATED.test(text) ? undefined : 'invalid UUID format'
}
