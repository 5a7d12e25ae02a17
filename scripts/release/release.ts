/**
 * A release: everything is made, checked and committed in a worktree of its own, so that whatever fails leaves the checkout as it
 * was. Only then do the branch and the tag move, and only then is anything published.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { isPrerelease, isValid, sortReversed } from 'verkit'
import { changelogSection, parsed, withSection } from './changelog.ts'
import type { ParsedCommit } from './changelog.ts'
import {
  Refusal,
  nextVersion,
  publishOrder,
  withVersionConstant,
  withVersionsOf,
} from './versions.ts'

export interface Request {
  /** The checkout. */
  readonly root: string
  /** `patch`, `minor`, `major` or a version; absent: as the commits say. */
  readonly asked?: string
  /** As `2026-11-22`. */
  readonly date: string
  readonly isDryRun: boolean
  /** Publishes what npm lacks of the release that is tagged here. */
  readonly isResumed: boolean
}

/** What takes long, or is seen outside of the checkout. Each throws when it fails. */
export interface Tools {
  /** Installs dependencies as the lock file says. */
  install(checkout: string): void
  /** Sets the versions of all manifests and of the lock file. */
  setVersions(checkout: string, version: string): void
  /** Makes the tarballs of the checkout, answers their paths. */
  build(checkout: string, target: string): readonly string[]
  /** What is wrong with tarballs that users would notice. */
  inspect(tarballs: readonly string[]): void
  /** Who would publish. */
  whoami(): string
  isPublished(name: string, version: string): boolean
  publish(tarball: string, distTag: string): void
}

interface Plan {
  readonly version: string
  readonly tag: string
  /** Absent: it is tagged already. */
  readonly section?: string
}

interface Tarball {
  readonly path: string
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const BRANCH = 'main'
const REMEDY = 'npm run release -- --resume'

/** Throws a Refusal before anything is changed, and what a tool says when it fails. */
export async function release(
  request: Request,
  tools: Tools,
  say: (line: string) => void,
): Promise<void> {
  const { root, isDryRun, isResumed } = request
  const git = gitIn(root)
  const plan = isResumed ? taggedPlan(git) : await newPlan(git, request)
  if (!isDryRun) tools.whoami()
  say(`version   ${plan.version} (tag ${plan.tag})`)
  if (plan.section !== undefined) say(`\n${plan.section}`)

  const temporary = mkdtempSync(join(tmpdir(), 'gyropilot-release-'))
  const checkout = join(temporary, 'checkout')
  try {
    git('worktree', 'add', '--quiet', '--detach', checkout)
    tools.install(checkout)
    if (plan.section !== undefined) writeRelease(checkout, plan.version, plan.section, tools)
    const tarballs = publishOrder(tools.build(checkout, join(temporary, 'packages')).map(described))
    checkVersions(tarballs, plan.version)
    tools.inspect(tarballs.map(({ path }) => path))
    const missing = tarballs.filter(
      ({ name, version }) => !isResumed || !tools.isPublished(name, version),
    )
    say('to publish, in this order:')
    for (const { path, name } of missing) say(`  ${sizeOf(path)} kB  ${name}`)
    const commit = plan.section === undefined ? undefined : committed(checkout, plan)
    if (isDryRun) return say('dry run: nothing is tagged or published, the checkout is as it was')
    if (commit !== undefined) moveBranch(git, plan.tag, commit)
    publish(missing, plan, tools, say)
  } finally {
    rmSync(temporary, { recursive: true, force: true })
    git('worktree', 'prune')
  }
}

type Git = (...args: readonly string[]) => string

function gitIn(cwd: string): Git {
  return (...args) =>
    execFileSync('git', args, {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 28,
    }).trimEnd()
}

async function newPlan(git: Git, { root, asked, date }: Request): Promise<Plan> {
  const branch = git('branch', '--show-current')
  if (branch !== BRANCH)
    throw new Refusal(`releases are made of ${BRANCH}, not of ${branch || 'a detached HEAD'}`)
  const changes = git('status', '--porcelain').split('\n')
  if (changes[0] !== '')
    throw new Refusal(`the checkout has changes: commit or stash them first: ${changes[0]!.trim()}`)
  if (!knowsAuthor(git))
    throw new Refusal('git does not know who you are: set user.name and user.email with git config')
  const released = versionsOf(git('tag', '--list', 'v*', '--merged', 'HEAD'))[0]
  const commits = commitsSince(git, released)
  if (commits.length === 0)
    throw new Refusal(`there is nothing to release: no commit since v${released}`)
  const version = nextVersion(asked, {
    released,
    current: (readJson(join(root, 'package.json')) as Tarball).version,
    isBreaking: commits.some(({ notes }) => notes.length > 0),
    hasFeatures: commits.some(({ type }) => type === 'feat'),
  })
  const tag = `v${version}`
  if (git('tag', '--list', tag) !== '')
    throw new Refusal(`the tag ${tag} is there already: say a higher version, or ${REMEDY}`)
  return { version, tag, section: await changelogSection(commits, version, date) }
}

/** Asked for before anything is built: the commit is the last step. */
function knowsAuthor(git: Git): boolean {
  try {
    return git('var', 'GIT_AUTHOR_IDENT') !== '' && git('var', 'GIT_COMMITTER_IDENT') !== ''
  } catch {
    return false
  }
}

function taggedPlan(git: Git): Plan {
  const [version] = versionsOf(git('tag', '--list', 'v*', '--points-at', 'HEAD'))
  if (version === undefined)
    throw new Refusal('no release is tagged here: first git switch --detach its tag, as in v1.2.3')
  return { version, tag: `v${version}` }
}

/** The newest first. */
function versionsOf(tags: string): readonly string[] {
  const versions = tags.split('\n').map((tag) => tag.slice(1))
  return sortReversed(versions.filter((version) => isValid(version)))
}

function commitsSince(git: Git, released: string | undefined): readonly ParsedCommit[] {
  const range = released === undefined ? 'HEAD' : `v${released}..HEAD`
  return git('log', '-z', '--reverse', '--no-merges', '--format=%H%n%B', range)
    .split('\0')
    .filter((text) => text !== '')
    .map((text) => parsed({ hash: text.slice(0, 40), message: text.slice(41) }))
}

function writeRelease(checkout: string, version: string, section: string, tools: Tools): void {
  const folders = readdirSync(join(checkout, 'packages'))
  const manifests = folders.map((name) => join(checkout, 'packages', name, 'package.json'))
  const names = new Set(manifests.map((path) => (readJson(path) as Tarball).name))
  // Before the versions are set: npm looks for a version that no package of the checkout has in the registry.
  for (const path of manifests)
    change(
      path,
      (text) =>
        `${JSON.stringify(withVersionsOf(JSON.parse(text!) as object, names, version), null, 2)}\n`,
    )
  tools.setVersions(checkout, version)
  const constant = join(checkout, 'packages/gyro/src/version.ts')
  change(constant, (text) => withVersionConstant(text!, version))
  change(join(checkout, 'CHANGELOG.md'), (text) => withSection(text, section))
}

function change(path: string, changed: (text: string | undefined) => string): void {
  writeFileSync(path, changed(existsSync(path) ? readFileSync(path, 'utf8') : undefined))
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function described(path: string): Tarball {
  const manifest = execFileSync('tar', ['-xzOf', path, 'package/package.json'], {
    encoding: 'utf8',
  })
  return { ...(JSON.parse(manifest) as Tarball), path }
}

function checkVersions(tarballs: readonly Tarball[], wanted: string): void {
  const wrong = tarballs.find(({ version }) => version !== wanted)
  if (wrong !== undefined)
    throw new Refusal(`${basename(wrong.path)} has the version ${wrong.version} and not ${wanted}`)
}

function sizeOf(path: string): string {
  return (statSync(path).size / 1000).toFixed(0).padStart(5)
}

function committed(checkout: string, { tag }: Plan): string {
  const git = gitIn(checkout)
  git('add', '--all')
  git('commit', '--quiet', '--message', `build: release ${tag}`)
  return git('rev-parse', 'HEAD')
}

/** Both or neither. */
function moveBranch(git: Git, tag: string, commit: string): void {
  git('tag', '--annotate', '--message', tag, tag, commit)
  try {
    git('merge', '--quiet', '--ff-only', commit)
  } catch (error) {
    git('tag', '--delete', tag)
    throw error
  }
}

function publish(
  tarballs: readonly Tarball[],
  { version, tag }: Plan,
  tools: Tools,
  say: (line: string) => void,
): void {
  const distTag = isPrerelease(version) ? 'next' : 'latest'
  for (const [done, { path, name }] of tarballs.entries()) {
    try {
      tools.publish(path, distTag)
    } catch (error) {
      const what = `${name} is not published, ${done} of ${tarballs.length} are`
      throw new Refusal(`${what}; go on with ${REMEDY}: ${(error as Error).message}`)
    }
    say(`published ${name}@${version}`)
  }
  say(`released ${version}; now: git push origin ${BRANCH} ${tag}`)
}
