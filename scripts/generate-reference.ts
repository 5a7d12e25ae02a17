// Writes docs/reference from the tables that the code itself uses.
//
//   node scripts/generate-reference.ts [--check]     --check: exit 1 when a page differs
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { clientErrors } from '@gyropilot/client'
import { mergeCatalogues } from '@gyropilot/foundation'
import { cloudProviderErrors } from '@gyropilot/cloud-provider'
import { controllerErrors } from '@gyropilot/runtime'
import { gyroErrors } from '../packages/gyro/src/errors.ts'
import { flagGroups } from '../packages/manager/src/flags/kube-controller-manager-flags.ts'
import { knownControllers } from '../packages/manager/src/controller-names.ts'
import { managerErrors } from '../packages/manager/src/errors.ts'
import { cloudFlagGroups } from '../packages/manager/src/flags/cloud-controller-manager-flags.ts'
import { controllers, routeErrors } from '../packages/controllers/src/index.ts'
import { commands } from '../packages/gyro/src/commands.ts'
import { apiPages } from './reference/api-pages.ts'
import { managerChart } from './reference/manager-chart.ts'
import type { ManagerResults } from '../benchmarks/load/manager-results.ts'
import { root } from './source-files.ts'

const gyroFlags = await Promise.all(
  commands
    .filter(({ flags }) => flags !== undefined)
    .map(async ({ name, flags }) => ({ name, flags: await flags!() })),
)

const pages: Readonly<Record<string, string>> = {
  'errors.md': errorsPage(),
  'flags.md': flagsPage(),
  'controllers.md': controllersPage(),
  'differences.md': differencesPage(),
  'manager-results.svg': managerChart(managerResults()),
  ...under('api', apiPages()),
}
const reference = join(root, 'docs/reference')
mkdirSync(join(reference, 'api'), { recursive: true })

const onlyChecks = process.argv.includes('--check')
let differing = 0
for (const [name, text] of Object.entries(pages)) {
  const path = join(reference, name)
  if (current(path) === text) continue
  if (onlyChecks) differ(name, 'is out of date')
  else writeFileSync(path, text)
}
for (const entry of readdirSync(reference, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name)
  const name = relative(reference, path)
  if (entry.isDirectory() || name in pages) continue
  if (onlyChecks) differ(name, 'is of nothing that there is')
  else rmSync(path)
}
process.exitCode = differing === 0 ? 0 : 1

function differ(name: string, how: string): void {
  differing++
  console.error(`docs/reference/${name} ${how}: run node scripts/generate-reference.ts`)
}

function current(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function under(folder: string, some: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(some).map(([name, text]) => [`${folder}/${name}`, text]))
}

/** Kept in benchmarks/results, one file for each release, the oldest first. */
function managerResults(): readonly ManagerResults[] {
  const folder = join(root, 'benchmarks/results')
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const results = files.map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ManagerResults,
  )
  return results.toSorted((a, b) => (a.date < b.date ? -1 : 1))
}

function errorsPage(): string {
  const rows = mergeCatalogues([
    clientErrors,
    cloudProviderErrors,
    controllerErrors,
    gyroErrors,
    managerErrors,
    routeErrors,
  ]).map(
    ({ code, exitCode, meaning, remedy }) => `| ${code} | ${exitCode} | ${meaning} | ${remedy} |`,
  )
  return page(
    'Errors',
    'Errors a user of the programs can meet. The API server answers with Kubernetes Status objects instead.',
    ['| code | exit | what it means | what to do |', '|---|---|---|---|', ...rows],
  )
}

function flagsPage(): string {
  const row = (flag: {
    name: string
    type: string
    default: string
    help: string
    unused?: string
  }): string => {
    const note = flag.unused === undefined ? '' : ` *Accepted without effect: ${flag.unused}.*`
    return `| --${flag.name} | ${flag.type} | ${cell(flag.default)} | ${cell(flag.help)}${note} |`
  }
  const head = ['| flag | type | default | effect |', '|---|---|---|---|']
  const sections = (groups: typeof flagGroups): readonly string[] =>
    groups.flatMap(({ title, flags }) => [`### ${title}`, '', ...head, ...flags.map(row), ''])
  return page('Flags', 'Flags of the programs, as `--help` shows them.', [
    ...gyroFlags.flatMap(({ name, flags }) => [
      `## gyro ${name}`,
      '',
      ...head,
      ...flags.map(row),
      '',
    ]),
    '## kube-controller-manager',
    '',
    ...sections(flagGroups),
    '## cloud-controller-manager',
    '',
    ...sections(cloudFlagGroups),
  ])
}

/** What each controller's README says last. */
function differencesPage(): string {
  const folder = join(root, 'packages/controllers/src')
  const sections = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.endsWith('-support'))
    .map(({ name }) => name)
    .sort()
    .flatMap((name) => {
      const readme = readFileSync(join(folder, name, 'README.md'), 'utf8')
      const [, said] = /^Known differences from upstream([^]*)$/m.exec(readme) ?? []
      if (said === undefined) throw new Error(`the README of ${name} names no differences`)
      if (/^: none(?: that another client could see)?\.\s*$/.test(said)) return []
      return [
        `## ${name}`,
        '',
        capitalised(
          linkedFromHere(said)
            .replace(/^[:,]?\s*(?:which )?/, '')
            .trim(),
        ),
        '',
      ]
    })
  return page(
    'Differences',
    'Where a controller does something else than kube-controller-manager 1.36, on purpose and why. Those that are not named do the same. Answers of the API server that differ: [decision 0007](../decisions/0007-different-answers.md).',
    sections,
  )
}

/** Links of a controller's README, from docs/reference. */
function linkedFromHere(text: string): string {
  return text.replaceAll('](../../../../docs/', '](../')
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function controllersPage(): string {
  const rows = knownControllers.map(({ name, alias = '', enabledByDefault, cloud }) => {
    const account = controllers.find((descriptor) => descriptor.name === name)?.serviceAccount
    const runs = cloud ? 'cloud-controller-manager' : 'kube-controller-manager'
    return `| ${name} | ${alias} | ${enabledByDefault ? 'on' : 'off'} | ${account ?? ''} | ${runs} |`
  })
  return page(
    'Controllers',
    'Names for `--controllers`; kube-controller-manager knows those of the cloud and leaves them to cloud-controller-manager, which has cloud-node-controller besides.',
    ['| name | alias | by default | service account | runs in |', '|---|---|---|---|---|', ...rows],
  )
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', '<br>')
}

function page(title: string, introduction: string, lines: readonly string[]): string {
  return `# ${title}\n\n${introduction}\nGenerated by \`node scripts/generate-reference.ts\`; do not edit.\n\n${lines.join('\n').trimEnd()}\n`
}
