/**
 * YAML as kube-apiserver and kubectl read it: the grammar of 1.1, scalars between 1.1 and 1.2, the words and lines of their refusals. The first
 * document of a text is read. Contract: docs/behaviour/api-server/yaml.md.
 */
import { decodeUtf, refuseControlCharacters } from './characters.ts'
import { Parser } from './parser.ts'
import type { Node } from './parser.ts'
import { ValueReader } from './values.ts'
import type { RepeatedKey, YamlNode } from './values.ts'
import { YamlError } from './yaml-error.ts'

export { plainScalar } from './plain-scalar.ts'
export type { RepeatedKey, YamlMember, YamlNode } from './values.ts'
export { YamlError } from './yaml-error.ts'

export interface YamlDocument {
  /** Undefined: an empty document, whose value is null. */
  readonly root: YamlNode | undefined
  readonly repeatedKeys: readonly RepeatedKey[]
}

/** `offset`: what is added to all places, for a text out of a larger one. Throws YamlError. */
export function readYaml(source: string | Uint8Array, offset = 0): YamlDocument {
  try {
    return documentOf(source, offset)
  } catch (error) {
    if (!(error instanceof YamlError) || offset === 0) throw error
    throw new YamlError(error.message, error.start + offset)
  }
}

function documentOf(source: string | Uint8Array, offset: number): YamlDocument {
  const text = typeof source === 'string' ? source : decodeUtf(source)
  const node = firstDocument(text)
  if (node === undefined) return { root: undefined, repeatedKeys: [] }
  const reader = new ValueReader(offset)
  const isEmpty = node.kind === 'scalar' && node.text === '' && node.plain
  const root = reader.document(node)
  return { root: isEmpty ? undefined : root, repeatedKeys: reader.repeatedKeys }
}

/** The value alone; null for an empty document. Throws YamlError. */
export function yamlValue(source: string | Uint8Array): unknown {
  return readYaml(source).root?.value ?? null
}

function firstDocument(text: string): Node | undefined {
  const parser = new Parser(text)
  try {
    return parser.firstDocument()
  } finally {
    // It is what would have been noticed first.
    refuseControlCharacters(text, parser.readTo)
  }
}
