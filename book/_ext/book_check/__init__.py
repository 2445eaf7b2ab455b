"""What looks at the built book: a server such as a static host has, a browser, and Lighthouse."""
