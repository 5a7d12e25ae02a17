/** The body of server-side apply: YAML or JSON of a partial object. Contract: docs/behaviour/api-server/patch-and-apply.md, "Apply". */
import { badRequest } from '../../http/errors.ts'
import type { ServerRequest } from '../../http/exchange.ts'
import { checkNesting } from '@gyropilot/schema/body-refusals'
import { parseJson } from '@gyropilot/schema/json'
import type { FieldValidation } from '../options.ts'

interface AppliedBody {
  readonly configuration: Record<string, unknown>
  /** Tells of repeated keys: after all that is wrong with the configuration. Throws 400 when validation is strict. */
  tellRepeated(): void
}

/** Throws 400 for what is no mapping. */
export async function applyPatchBody(
  request: ServerRequest,
  validation: FieldValidation,
  warn: (text: string) => void,
): Promise<AppliedBody> {
  if (request.body !== undefined && 'json' in request.body)
    return { configuration: request.body.json as Record<string, unknown>, tellRepeated() {} }
  const { value, problems } = await parse(request.body?.bytes ?? new Uint8Array(0))
  return {
    configuration: mappingOf(value),
    tellRepeated() {
      if (problems.length > 0 && validation === 'Strict') {
        throw badRequest(
          `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  ${problems.join('\n  ')}`,
        )
      }
      if (validation === 'Warn') for (const problem of problems) warn(problem)
    },
  }
}

function mappingOf(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
    throw badRequest(
      `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
    )
  }
  return value as Record<string, unknown>
}

/** JSON is YAML, and most clients send it: the native parser answers at once. */
async function parse(bytes: Uint8Array): Promise<{ value: unknown; problems: readonly string[] }> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  if (text.trimStart().startsWith('{') && !BEYOND_YAML.test(text)) {
    checkNesting(text)
    try {
      const { value, occurrences, spellings } = parseJson(text)
      // Numbers with a fraction or an exponent are others in YAML where no double holds them, or where they are whole.
      if (occurrences === undefined && spellings === undefined) return { value, problems: [] }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  const { YamlError, readYaml } = await import('@gyropilot/foundation/yaml')
  try {
    const { root, repeatedKeys } = readYaml(bytes)
    return { value: root?.value ?? null, problems: repeatedKeys.map(({ problem }) => problem) }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
  }
}

/** Half characters, which JSON writes as two escapes, are none in YAML. */
const BEYOND_YAML = /\\u[dD][89a-fA-F]/
