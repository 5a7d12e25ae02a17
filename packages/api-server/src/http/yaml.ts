/** YAML in and out. Loaded when a request first needs it. */
import { LineCounter, parseDocument, stringify } from 'yaml'
import type { ScalarTag } from 'yaml'
import { plainScalar } from '@gyropilot/schema/yaml-scalar'

export interface ParsedYaml {
  readonly value: unknown
  /** Repeated keys: `line 1: key "x" already set in map`. */
  readonly problems: readonly string[]
  /** In the words of the real parser where they are known: `yaml: line 1: did not find expected node content`. */
  readonly error: string | undefined
}

/** Aliases may not blow a small document up. */
const MOST_ALIASES = 100

/** Before all others, but for the key that merges. */
const PLAIN_SCALAR: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^(?!<<$)/,
  resolve: (text) => plainScalar(text),
}

export function parseYamlText(text: string): ParsedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    version: '1.1',
    schema: 'core',
    merge: true,
    customTags: (tags) => [PLAIN_SCALAR, ...tags],
  })
  const broken = document.errors[0]
  if (broken !== undefined) {
    const line = lines.linePos(broken.pos[0]).line
    return {
      value: undefined,
      problems: [],
      error: `yaml: line ${line}: did not find expected node content`,
    }
  }
  const problems: string[] = []
  reportRepeated(document.contents, lines, problems)
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES })
    return { value, problems, error: undefined }
  } catch {
    return { value: undefined, problems: [], error: 'yaml: document contains excessive aliasing' }
  }
}

function reportRepeated(node: unknown, lines: LineCounter, problems: string[]): void {
  if (typeof node !== 'object' || node === null || !('items' in node)) return
  const seen = new Set<string>()
  for (const item of node.items as {
    key?: { value?: unknown; range?: readonly number[] }
    value?: unknown
  }[]) {
    if (item.key?.value !== undefined) {
      const key = String(item.key.value)
      if (seen.has(key))
        problems.push(
          `line ${lines.linePos(item.key.range?.[0] ?? 0).line}: key ${JSON.stringify(key)} already set in map`,
        )
      seen.add(key)
      reportRepeated(item.value, lines, problems)
    } else reportRepeated(item, lines, problems)
  }
}

/** Keys in order, as the real server writes them. */
export function formatYaml(value: unknown): string {
  return stringify(value, {
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: 'PLAIN',
    version: '1.1',
  })
}
