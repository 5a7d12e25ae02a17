import type { Node } from './parser.ts'
import { isInteger, plainScalar } from './plain-scalar.ts'
import { goText } from './characters.ts'
import { YamlError } from './yaml-error.ts'

const CORE = 'tag:yaml.org,2002:'
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const TIMESTAMP = /^\d{4}-\d{1,2}-\d{1,2}(?:$|[Tt]| )/
const TYPES: ReadonlySet<string> = new Set(['bool', 'int', 'float', 'null', 'timestamp'])

/** Tags that are not YAML's own say nothing. Throws YamlError. */
export function scalarValue({ tag, text, plain, mark }: Node): unknown {
  if (tag === '') return plain ? plainScalar(text) : text
  const name = tag.startsWith(CORE) ? tag.slice(CORE.length) : ''
  if (name === 'binary') return binary(text, mark.offset)
  if (!TYPES.has(name)) return text
  const value = plainScalar(text)
  const type = typeOf(value, text, name)
  if (type === name) return type === 'timestamp' ? text : value
  if (name === 'float' && type === 'int' && Number(value) < 2 ** 63) return Number(value)
  throw new YamlError(`yaml: cannot decode !!${type} \`${text}\` as a !!${name}`, mark.offset)
}

function binary(text: string, start: number): string {
  const digits = text.replaceAll(/[\r\n]/g, '')
  if (!BASE64.test(digits))
    throw new YamlError('yaml: !!binary value contains invalid base64 data', start)
  return goText(Buffer.from(digits, 'base64'))
}

function typeOf(value: unknown, text: string, wanted: string): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number' || typeof value === 'bigint')
    return isInteger(text) ? 'int' : 'float'
  return wanted === 'timestamp' && TIMESTAMP.test(text) ? 'timestamp' : 'str'
}
