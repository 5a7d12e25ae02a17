/** `gyro check`: reads manifests, has the embedded server judge them and says what is wrong with them. */
import { SystemClock, SystemRandom } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { checkDocuments } from './check-documents.ts'
import type { Checked } from './check-documents.ts'
import { checkOptions } from './check-options.ts'
import type { CheckOptions } from './check-options.ts'
import { CheckingServer } from './checking-server.ts'
import { findFiles } from './find-files.ts'
import type { FoundFiles } from './find-files.ts'
import type { Finding } from './findings.ts'
import { isForSomethingElse } from './folder-rules.ts'
import { helpText } from './help.ts'
import { reportGithub } from './report-github.ts'
import { reportText } from './report-text.ts'
import { documentsOf, isUnreadable } from './source/documents.ts'
import type { DocumentOrProblem, SourceDocument } from './source/documents.ts'
import { exitCodeOf, summaryOf, summaryText } from './summary.ts'

/** Sets the exit code: 0 all accepted, 1 something refused, 2 something not read. */
export async function checkCommand(args: readonly string[]): Promise<void> {
  const options = checkOptions(args)
  if (options.help) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  const stdin = options.inputs.includes('-') ? await standardInput() : new Uint8Array()
  const found = findFiles(options.inputs, stdin)
  const read = documentsIn(found)
  if (read.documents.length === 0 && found.unreadable.length === 0)
    throw nothingFound(options, found)
  const checked = await judged(read.documents, options)
  const order = new Map(found.files.map(({ file }, index) => [file.name, index]))
  const findings = [
    ...found.unreadable,
    ...found.notices,
    ...read.notices,
    ...checked.findings,
  ].toSorted(
    (a, b) =>
      (order.get(a.file) ?? -1) - (order.get(b.file) ?? -1) ||
      a.line - b.line ||
      a.column - b.column,
  )
  const summary = summaryOf(read.files, checked.objects, findings)
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.exitCode = 2
  })
  process.stdout.write(outputText(options.output, findings, { ...checked, summary }))
  process.stderr.write(`gyro check: ${summaryText(summary)}\n`)
  process.exitCode = exitCodeOf(summary, found.unreadable.length > 0, options.warningsAsErrors)
}

async function standardInput(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

interface Read {
  readonly documents: readonly DocumentOrProblem[]
  readonly notices: readonly Finding[]
  /** How many files had documents. */
  readonly files: number
}

function documentsIn({ files }: FoundFiles): Read {
  const documents: DocumentOrProblem[] = []
  const notices: Finding[] = []
  let count = 0
  for (const { file, named } of files) {
    const own = documentsOf(file).filter((document) => isUnreadable(document) || !isEmpty(document))
    if (!named && own.length > 0 && isForSomethingElse(own)) {
      const message =
        'not checked: no object of Kubernetes in it, as it has no kind and no apiVersion'
      const broken = own.find(isUnreadable)
      const why = broken === undefined ? '' : `; nor can it be read: ${broken.problem}`
      const place = broken === undefined ? { line: 0, column: 0 } : file.positionOf(broken.start)
      notices.push({ severity: 'notice', file: file.name, ...place, message: `${message}${why}` })
      continue
    }
    if (own.length > 0) count++
    documents.push(...own)
  }
  return { documents, notices, files: count }
}

/** Comments between dashes, and what a condition of a template left of itself. */
function isEmpty({ root }: SourceDocument): boolean {
  return root === undefined || root.value === null
}

async function judged(
  documents: readonly DocumentOrProblem[],
  options: CheckOptions,
): Promise<Checked> {
  if (documents.length === 0) return { objects: [], findings: [] }
  const world = { clock: new SystemClock(), random: new SystemRandom() }
  const server = await CheckingServer.start(options, world)
  try {
    return await checkDocuments(server, documents, options)
  } finally {
    await server.stop()
  }
}

function outputText(
  output: CheckOptions['output'],
  findings: readonly Finding[],
  { objects, summary }: Pick<Checked, 'objects'> & { readonly summary: object },
): string {
  if (output === 'json') return `${JSON.stringify({ summary, findings, objects })}\n`
  if (output === 'github') return reportGithub(findings)
  const { NO_COLOR: noColor = '' } = process.env
  return reportText(findings, process.stdout.isTTY === true && noColor === '')
}

/** A pipeline whose first part failed must not look like a check that found nothing wrong. */
function nothingFound({ inputs }: CheckOptions, { notices }: FoundFiles): Error {
  const where = inputs.map((input) => (input === '-' ? 'standard input' : input)).join(', ')
  const [first] = notices
  const hint = first === undefined ? '' : `: ${first.file}: ${first.message}`
  return gyroErrors.make('CHECK_FOUND_NOTHING', `no manifests in ${where}${hint}`)
}
