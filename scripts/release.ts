// Releases all packages under one version.
import { parseArgs } from 'node:util'
import { release } from './release/release.ts'
import { toolsOfNpm } from './release/tools.ts'
import { root } from './source-files.ts'

const USAGE = `usage: npm run release -- [patch | minor | major | VERSION] [--dry-run | --resume]

Sets the version of every package, writes CHANGELOG.md of the commits since the last tag, builds and checks the tarballs,
commits, tags, and publishes in the order of dependencies. Without a version the commits say: a breaking change is major
(minor before 1.0), a feature is minor, all else a patch; the first release is the version that package.json has.

  --dry-run   all of it but the tag and publishing; the checkout stays as it is
  --resume    publish what npm does not have yet of the release that is tagged here
  --help      this text

Until the tag is set a failure leaves everything as it was. After it, --resume goes on. Nothing is pushed.
Exit code: 0 done, 1 not released, 2 wrong arguments. More: docs/guides/release.md
`

// Ctrl-C ends what runs at the moment; the rest is put away as after any other failure.
process.on('SIGINT', () => {})

const given = argumentsOf(process.argv.slice(2))
if (given === undefined || given.help) {
  ;(given ? process.stdout : process.stderr).write(USAGE)
  process.exitCode = given ? 0 : 2
} else {
  try {
    await release(
      {
        root,
        asked: given.asked,
        date: new Date().toISOString().slice(0, 10),
        isDryRun: given.isDryRun,
        isResumed: given.resume,
      },
      toolsOfNpm,
      console.log,
    )
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message.trim()}\n`)
    process.exitCode = 1
  }
}

function argumentsOf(args: readonly string[]) {
  const boolean = { type: 'boolean', default: false } as const
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'dry-run': boolean, resume: boolean, help: boolean },
    })
    const [asked, ...more] = positionals
    if (more.length > 0) throw new Error(`one version, not ${positionals.join(' ')}`)
    if (asked !== undefined && values.resume)
      throw new Error('--resume takes the version of the tag; leave yours out')
    // `npm run release --dry-run` keeps the flag for npm, and means the same.
    const isDryRun = values['dry-run'] || process.env['npm_config_dry_run'] === 'true'
    return { ...values, asked, isDryRun }
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n\n`)
    return undefined
  }
}
