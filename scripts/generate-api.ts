/**
 * Writes packages/api/src/generated from recorded OpenAPI v3 documents and aggregated discovery.
 *
 *   node scripts/generate-api.ts [--from DIR] [--check]
 *
 * DIR holds `openapi-v3/`, `discovery.json` and `discovery-on-request.json`; default: packages/api/openapi. The output depends on
 * nothing else.
 * With --check nothing is written; exit code 1 when a file differs, is missing, or is left over.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeInterfaces } from './generate-api/interfaces.ts'
import { readDefinitions, readDiscovery } from './generate-api/openapi.ts'
import { writeResourceTypes, writeTypeExports } from './generate-api/resource-types.ts'
import { writeRuntimeSchema } from './generate-api/runtime-schema.ts'

const packageFolder = join(import.meta.dirname, '../packages/api')

function generate(from: string): ReadonlyMap<string, string> {
  const definitions = readDefinitions(join(from, 'openapi-v3'))
  const table = readDiscovery(join(from, 'discovery.json'))
  const onRequest = readDiscovery(join(from, 'discovery-on-request.json'))
  const files = new Map<string, string>()
  for (const [module, text] of writeInterfaces(definitions)) files.set(`${module}.ts`, text)
  files.set('resource-types.ts', writeResourceTypes(definitions, table, onRequest))
  files.set('types.ts', writeTypeExports(definitions, [...table, ...onRequest]))
  files.set('schema.json', writeRuntimeSchema(definitions, onRequest))
  return files
}

function differences(folder: string, files: ReadonlyMap<string, string>): readonly string[] {
  const present = existsSync(folder) ? readdirSync(folder) : []
  const leftOver = present.filter((name) => !files.has(name)).map((name) => `${name} is left over`)
  const changed = [...files].flatMap(([name, text]) => {
    if (!present.includes(name)) return [`${name} is missing`]
    return readFileSync(join(folder, name), 'utf8') === text ? [] : [`${name} differs`]
  })
  return [...leftOver, ...changed]
}

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(packageFolder, 'openapi') },
    check: { type: 'boolean', default: false },
  },
})
const folder = join(packageFolder, 'src/generated')
const files = generate(values.from)
if (values.check) {
  const found = differences(folder, files)
  for (const line of found) console.error(`packages/api/src/generated/${line}`)
  if (found.length > 0) {
    console.error('run: npm run generate')
    process.exitCode = 1
  }
} else {
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) if (!files.has(name)) rmSync(join(folder, name))
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  console.log(`${files.size} files in packages/api/src/generated`)
}
