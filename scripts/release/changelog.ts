/** What users read of the commits since the last release. Pure. */
import { writeChangelogString } from 'conventional-changelog-writer'
import { CommitParser } from 'conventional-commits-parser'

interface Commit {
  readonly hash: string
  readonly message: string
}

export interface ParsedCommit {
  readonly hash: string
  readonly type: string | null
  readonly scope: string | null
  readonly subject: string | null
  readonly header: string | null
  readonly notes: { readonly title: string; readonly text: string }[]
}

/** In the order of the page; other types change nothing for users. */
const TITLES: Readonly<Record<string, string>> = {
  feat: 'Features',
  fix: 'Fixes',
  perf: 'Performance',
}
const BREAKING = 'Breaking changes'
const TOP = '# Changelog\n'

const parser = new CommitParser({
  breakingHeaderPattern: /^(\w*)(?:\(([^)]*)\))?!: (.*)$/,
  headerPattern: /^(\w*)(?:\(([^)]*)\))?!?: (.*)$/,
})

export function parsed({ hash, message }: Commit): ParsedCommit {
  const { type, scope, subject, header, notes } = parser.parse(message)
  return { hash, type: type ?? null, scope: scope ?? null, subject: subject ?? null, header, notes }
}

/** `date`: as `2026-11-22`. Commits of one kind are sorted by place, those of one place stay in the order in which they were made. */
export async function changelogSection(
  commits: readonly ParsedCommit[],
  version: string,
  date: string,
): Promise<string> {
  const titles = Object.values(TITLES)
  const text = await writeChangelogString(
    commits.map((commit) => ({ ...commit, notes: [...commit.notes] })),
    { version, date },
    {
      groupBy: 'type',
      transform: ({ type, hash, notes }) => {
        const title = TITLES[type ?? '']
        if (title === undefined && notes.length === 0) return null
        return {
          type: title ?? '',
          hash: hash.slice(0, 7),
          notes: notes.map((note) => ({ ...note, title: BREAKING })),
        }
      },
      // By code point: the same page on every machine.
      commitsSort: (a, b) => byCodePoint(a.scope ?? '', b.scope ?? ''),
      commitGroupsSort: (a, b) => titles.indexOf(a.title || '') - titles.indexOf(b.title || ''),
      template: ({ commitGroups = [], noteGroups = [] }) =>
        [
          `## ${version} (${date})`,
          ...noteGroups.map(({ title, notes }) =>
            section(
              title,
              notes.map(({ text }) => text),
            ),
          ),
          ...commitGroups
            .filter(({ title }) => titles.includes(title || ''))
            .map(({ title, commits: some }) => section(title || '', some.map(line))),
        ].join('\n\n'),
    },
  )
  return commits.some(isShown) ? text : `${text.trimEnd()}\n\nNothing that users would notice.\n`
}

function section(title: string, lines: readonly string[]): string {
  return [`### ${title}`, '', ...lines.map((text) => `- ${text}`)].join('\n')
}

function line({ scope, subject, hash }: ParsedCommit): string {
  return `${scope ? `**${scope}**: ` : ''}${subject} (${hash})`
}

function isShown({ type, notes }: ParsedCommit): boolean {
  return notes.length > 0 || TITLES[type ?? ''] !== undefined
}

function byCodePoint(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** The newest release stands on top. */
export function withSection(changelog: string | undefined, text: string): string {
  const older = (changelog ?? TOP).replace(TOP, '').trim()
  return `${[TOP.trim(), text.trim(), older].filter((part) => part !== '').join('\n\n')}\n`
}
