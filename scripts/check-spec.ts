// Every controller folder has its behaviour page, and every acceptance sentence of the page has a test that carries it.
//
//   node scripts/check-spec.ts [--list]     --list prints the sentences without a test
//
// scripts/spec-gaps.json says how many sentences of a page have no test yet; the numbers may only fall.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, sourceFiles } from './source-files.ts'

const gaps = JSON.parse(readFileSync(join(root, 'scripts/spec-gaps.json'), 'utf8')) as Record<
  string,
  number
>
const list = process.argv.includes('--list')
const testText = [...sourceFiles('packages'), ...sourceFiles('tests')]
  .filter(({ path }) => path.endsWith('.test.ts'))
  .map(({ text }) => normalized(text))
  .join('\n')

let problems = 0
const folders = readdirSync(join(root, 'packages/controllers/src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.endsWith('-support'))
  .map(({ name }) => name)
for (const folder of folders) {
  const page = join(root, 'docs/behaviour/controllers', `${folder}.md`)
  if (!existsSync(page))
    problem(
      `packages/controllers/src/${folder} has no page docs/behaviour/controllers/${folder}.md`,
    )
}

const pages = [
  ...folders.map((folder) => `controllers/${folder}`),
  ...[
    'informers',
    'workqueue',
    'rest-client',
    'leader-election',
    'manager',
    'custom-controllers',
  ].map((page) => `runtime/${page}`),
  ...[
    'requests',
    'storage-and-watch',
    'patch-and-apply',
    'defaulting-and-validation',
    'subresources-and-admission',
    'custom-resources',
    'kubectl',
  ].map((page) => `api-server/${page}`),
  ...['kubelet', 'scheduler', 'storage'].map((page) => `simulation/${page}`),
  'controllers/shared-controller-utils',
  'controllers/cloud-controller-manager',
]
for (const page of pages) {
  const file = join(root, 'docs/behaviour', `${page}.md`)
  if (!existsSync(file)) continue
  const sentences = acceptanceSentences(readFileSync(file, 'utf8'))
  const missing = sentences.filter((sentence) => !isCovered(sentence))
  const allowed = gaps[page] ?? 0
  if (missing.length > allowed) {
    problem(
      `${page}: ${missing.length} of ${sentences.length} acceptance sentences have no test, ${allowed} are allowed`,
    )
  } else if (missing.length < allowed) {
    problem(
      `${page}: only ${missing.length} sentences have no test now: lower scripts/spec-gaps.json from ${allowed}`,
    )
  }
  if (list) for (const sentence of missing) console.log(`  ${page}: ${sentence}`)
}
const open = Object.values(gaps).reduce((sum, count) => sum + count, 0)
console.log(
  problems === 0
    ? `spec: ${pages.length} pages, ${open} sentences without a test`
    : `spec: ${problems} problems`,
)
process.exitCode = problems === 0 ? 0 : 1

/** By one test that carries the sentence, or by one for each of its clauses. */
function isCovered(sentence: string): boolean {
  if (testText.includes(normalized(sentence))) return true
  const clauses = sentence.split(';').map((clause) => normalized(clause.trim()))
  return clauses.length > 1 && clauses.every((clause) => testText.includes(clause))
}

function problem(text: string): void {
  problems++
  console.error(text)
}

/** Bullets of the section, without the names of upstream's tests in brackets at the end. */
function acceptanceSentences(text: string): string[] {
  const section = text.split(/^## Acceptance scenarios.*$/m)[1]?.split(/^## /m)[0] ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) =>
      line
        .slice(2)
        .replaceAll(/\s*\[(?:[Tt]est|e2e|integration|It\(|same|no )[^\]]*\]/g, '')
        // Names of upstream's cases, at the end.
        .replace(/\s*\["[^\]]*\]\.?$/, '')
        .replace(/\.$/, '')
        .trim(),
    )
}

/** Quotes, escapes and spacing differ between a page and a string literal. */
function normalized(text: string): string {
  return text
    .replaceAll(/[\\`'"’]/g, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase()
}
