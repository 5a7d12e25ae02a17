// A plug-in of Stryker: what is logged is for people, and no test should hold it.
import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin'

const LOGS = /^(this\.)?#?(\w+\.)*#?logger\b/

/** With what decides on it: `if (...) logger.info(...) else logger.error(...)`. */
function onlyLogs(path) {
  if (!path.isIfStatement()) return path.isExpressionStatement() && LOGS.test(path.toString())
  const alternate = path.get('alternate')
  return onlyLogs(path.get('consequent')) && (!alternate.node || onlyLogs(alternate))
}

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'logging', {
    shouldIgnore: (path) => (onlyLogs(path) ? 'logging' : undefined),
  }),
]
