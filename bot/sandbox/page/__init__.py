"""The local workspace's web page: a look-alike of Slack's client, good enough to judge a card by.

Templates are rendered here from what the workspace holds; a little script asks for them again whenever something
changes, and acts through the same control endpoints as the tests. The package knows nothing of the bot: it draws any
app's blocks. What an app wrote reaches the browser only through escaping, and the page may load nothing but itself.
"""
