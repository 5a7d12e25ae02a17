import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { scenarios } from '@gyropilot/cluster'
import type { Scenario } from '@gyropilot/cluster'
import { closestTo, errorText } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'

/** The one that is played; throws where the text is a part of several names. */
export async function scenarioNamed(text: string): Promise<Scenario> {
  const found = await scenariosNamed(text)
  const [first] = found.toSorted((a, b) => a.name.length - b.name.length)
  if (first !== undefined && (found.length === 1 || first.name === text)) return first
  const names = found.map(({ name }) => JSON.stringify(name)).join(', ')
  throw gyroErrors.make(
    'SCENARIO_UNUSABLE',
    `scenario ${JSON.stringify(text)} is a part of several names: say which, or play all with --explore: ${names}`,
  )
}

/** Built-in scenarios whose name contains the text, or the one of a module. */
export async function scenariosNamed(text: string): Promise<readonly Scenario[]> {
  const builtIn = scenarios.filter(({ name }) => name.includes(text))
  if (builtIn.length > 0) return builtIn
  if (!existsSync(resolve(text))) {
    const closest = scenarios.find(({ name }) => closestTo(text, name.split(/\W+/)) !== undefined)
    const meant = closest === undefined ? '' : `: did you mean ${JSON.stringify(closest.name)}?`
    throw gyroErrors.make(
      'SCENARIO_UNUSABLE',
      `scenario ${JSON.stringify(text)} is neither a part of the name of a built-in one nor a file${meant}`,
    )
  }
  let module: { readonly default?: Partial<Scenario> }
  try {
    module = (await import(pathToFileURL(resolve(text)).href)) as typeof module
  } catch (error) {
    throw gyroErrors.make('SCENARIO_UNUSABLE', `scenario ${text}: ${errorText(error)}`, {
      cause: error,
    })
  }
  const scenario = module.default
  if (typeof scenario?.name !== 'string' || typeof scenario.play !== 'function') {
    throw gyroErrors.make(
      'SCENARIO_UNUSABLE',
      `scenario ${text}: the default export needs a name and a play function`,
    )
  }
  return [{ controllers: [], ...scenario } as Scenario]
}
