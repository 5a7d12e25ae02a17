/** From the text of a file to its documents. What cannot be read ends one document, not the file. Pure. */
import { YamlError, readYaml } from '@gyropilot/foundation/yaml'
import { parseJsonStream } from './json-tree.ts'
import { SourceError, type ParsedSource } from './source-node.ts'
import type { SourceFile } from './source-file.ts'

export interface SourceDocument extends ParsedSource {
  readonly file: SourceFile
  /** The template that Helm rendered it from: `# Source: web/templates/deployment.yaml`. */
  readonly origin: string | undefined
}

export interface UnreadableDocument {
  readonly file: SourceFile
  readonly origin: string | undefined
  /** Offset of the place. */
  readonly start: number
  /** In the words of kubectl. */
  readonly problem: string
}

export type DocumentOrProblem = SourceDocument | UnreadableDocument

export function isUnreadable(document: DocumentOrProblem): document is UnreadableDocument {
  return 'problem' in document
}

export function documentsOf(file: SourceFile): DocumentOrProblem[] {
  const { text } = file
  if (/^\s*[{[]/.test(text)) {
    try {
      return parseJsonStream(text).map((parsed) => ({ ...parsed, file, origin: undefined }))
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      // Maps and lists of YAML may begin so, too; keys in quotes are meant for JSON.
      const yaml = file.name.endsWith('.json') ? [] : yamlDocuments(file)
      const isYaml = yaml.length > 0 && !yaml.some(isUnreadable)
      if (isYaml || (yaml.length > 0 && !/^\s*[{[]\s*"/.test(text))) return yaml
      const problem = `json: ${error.message}`
      return [{ file, origin: undefined, start: error.start, problem }]
    }
  }
  return yamlDocuments(file)
}

function yamlDocuments(file: SourceFile): DocumentOrProblem[] {
  return chunksOf(file.text).map((chunk) => {
    const { text, start, badSeparator } = chunk
    const origin = /^# Source: (\S.*)$/m.exec(text)?.[1]?.trim()
    try {
      if (badSeparator !== undefined)
        throw new SourceError(`yaml: invalid Yaml document separator: ${badSeparator}`, start)
      return { ...readYaml(text, start), file, origin }
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof YamlError)) throw error
      const template = placeOfTemplate(text)
      return template === undefined
        ? { file, origin, start: error.start, problem: yamlProblem(error, file) }
        : { file, origin, start: start + template, problem: NOT_RENDERED }
    }
  })
}

const NOT_RENDERED =
  'a template that is not rendered: give what comes out of it, as in helm template DIR | gyro check -'

/** A line or a value that begins with `{{`: YAML that nobody means. In the midst of a text it may be meant for somebody else. */
function placeOfTemplate(text: string): number | undefined {
  const found = /^[ ]*(?:- +)*(?:[\w./-]+: *)?(?=\{\{)/m.exec(text)
  return found === null ? undefined : found.index + found[0].length
}

/** Lines are those of the file: kubectl counts within the document, and not always from one. */
function yamlProblem({ message, start }: SourceError | YamlError, file: SourceFile): string {
  const [, problem] = /^yaml: (?:line \d+: )?([^]*)$/.exec(message) ?? []
  const isTab = file.text[start] === '\t'
  const yaml =
    problem === undefined
      ? message
      : `yaml: line ${file.positionOf(start).line}: ${problem}${isTab ? TAB : ''}`
  return `error converting YAML to JSON: ${yaml}`
}

const TAB = ': a tab, where YAML takes only spaces'

interface Chunk {
  readonly text: string
  readonly start: number
  /** What stands behind the dashes and may not. */
  readonly badSeparator: string | undefined
}

/** Lines that begin with `---` separate, whatever they stand in: so kubectl reads. */
function chunksOf(text: string): Chunk[] {
  const chunks: Chunk[] = []
  let start = 0
  let badSeparator: string | undefined
  const close = (end: number): void => {
    const part = text.slice(start, end)
    if (badSeparator !== undefined || /\S/.test(part))
      chunks.push({ text: part, start, badSeparator })
  }
  for (const { index, 0: line, 1: rest = '' } of text.matchAll(/^---(.*)$/gm)) {
    close(index)
    start = index + line.length
    const behind = rest.trim()
    badSeparator = behind === '' || behind.startsWith('#') ? undefined : behind
  }
  close(text.length)
  return chunks
}
