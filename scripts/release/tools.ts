/** What a release does with npm, and with the two tools that look at tarballs. */
import { spawnSync } from 'node:child_process'
import { basename, join } from 'node:path'
import { pinnedTools } from '../pinned-tools.ts'
import type { Tools } from './release.ts'
import { Refusal } from './versions.ts'

export const toolsOfNpm: Tools = {
  install: (checkout) => void run(checkout, 'npm', 'ci', '--ignore-scripts', '--prefer-offline'),
  setVersions: (checkout, version) => {
    const where = ['--workspaces', '--include-workspace-root', '--offline', '--ignore-scripts']
    // The first release has the version that is there.
    const how = ['--no-git-tag-version', '--allow-same-version']
    run(checkout, 'npm', 'version', version, ...where, ...how)
  },
  build: (checkout, target) =>
    run(checkout, process.execPath, 'scripts/build-packages.ts', target).trim().split('\n'),
  inspect: (tarballs) => {
    const programs = join(pinnedTools('release'), '.bin')
    for (const tarball of tarballs) {
      run('.', join(programs, 'publint'), '--strict', tarball)
      // Commands have no entries whose types could be wrong.
      if (!/^gyropilot-\d/.test(basename(tarball)))
        run('.', join(programs, 'attw'), '--quiet', '--profile', 'esm-only', tarball)
    }
  },
  whoami: () => {
    const { status, stdout, stderr } = spawn('.', ['npm', 'whoami'])
    if (status === 0) return stdout.trim()
    if (/\b(?:ENEEDAUTH|E401)\b/.test(stderr))
      throw new Refusal('npm does not know you: run npm login, as somebody who may publish')
    throw new Error(`npm whoami failed:\n${stderr.trim()}`)
  },
  isPublished: (name, version) => {
    const { status, stdout, stderr } = spawn('.', ['npm', 'view', `${name}@${version}`, 'version'])
    if (status === 0) return stdout.trim() !== ''
    if (/\bE404\b/.test(stderr)) return false
    throw new Error(`npm view ${name}: ${stderr}`)
  },
  publish: (tarball, distTag) => {
    const flags = ['--access', 'public', '--tag', distTag, '--no-provenance', '--ignore-scripts']
    // In the open: npm may ask for a one-time password.
    const { status } = spawn('.', ['npm', 'publish', tarball, ...flags], 'inherit')
    if (status !== 0) throw new Error(`npm publish ended with exit code ${status}`)
  },
}

/** What it prints; when it fails, an error with all that it said. */
function run(cwd: string, ...command: readonly string[]): string {
  const { status, stdout, stderr, error } = spawn(cwd, command)
  if (status === 0) return stdout
  throw new Error(`${command.join(' ')} failed:\n${error?.message ?? `${stdout}${stderr}`.trim()}`)
}

function spawn(
  cwd: string,
  [command = '', ...args]: readonly string[],
  stdio: 'pipe' | 'inherit' = 'pipe',
) {
  // A dry run is ours: npm's own would install nothing and set no version.
  const { npm_config_dry_run: _, ...env } = process.env
  return spawnSync(command, args, { cwd, env, encoding: 'utf8', stdio, maxBuffer: 2 ** 28 })
}
